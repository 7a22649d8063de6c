export interface ConsolePageOptions {
  /**
   * How the page gets its right to ask: by a cookie that the server sets, or by a token that it keeps in memory. `signature`:
   * not at all, so it says how to come in.
   */
  readonly signIn: 'cookie' | 'bearer' | 'signature';
  /** Each approval has a page of its own that the cookie opens. */
  readonly approvalPages: boolean;
}

/**
 * The console: one static document, the same for everybody. It holds no data of anyone; its script reads everything
 * through the API. A text module, so that it is bundled and needs no file at run time.
 */
export function consolePage(options: ConsolePageOptions): string {
  return html.replace('%SIGN_IN%', options.signIn).replace('%PAGES%', options.approvalPages ? 'yes' : 'no');
}

const html = `<!doctype html>
<html lang="en" data-sign-in="%SIGN_IN%" data-pages="%PAGES%">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Handrail</title>
<link rel="icon" href="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24'%3E%3Cpath d='M5 21V6m14 15V6M3 6h18' fill='none' stroke='%230f766e' stroke-width='3' stroke-linecap='round'/%3E%3C/svg%3E">
<link rel="stylesheet" href="/console.css">
<script type="module" src="/console.js"></script>
</head>
<body>
<a class="skip" href="#main">Skip to the run</a>
<header>
  <svg class="mark" viewBox="0 0 24 24" aria-hidden="true"><path d="M5 21V6m14 15V6M3 6h18"/></svg>
  <h1>Handrail</h1>
  <p id="connection" role="status"></p>
</header>

<section id="sign-in" aria-labelledby="sign-in-title" hidden>
  <h2 id="sign-in-title">Sign in</h2>
  <p id="sign-in-hint"></p>
  <form id="sign-in-form">
    <label for="secret"><span id="secret-label">Secret</span></label>
    <input id="secret" type="password" autocomplete="off" required>
    <button class="primary">Sign in</button>
    <p id="sign-in-error" role="alert"></p>
  </form>
</section>

<div id="layout" hidden>
  <nav aria-label="Runs">
    <form id="composer">
      <label for="input">New run</label>
      <textarea id="input" rows="3" required placeholder="Add up sales.csv and write report.md"></textarea>
      <label class="check" id="continue-label" hidden><input type="checkbox" id="continue"> <span>Go on in this session</span></label>
      <button class="primary">Start</button>
      <p id="composer-error" role="alert"></p>
    </form>
    <h2>Runs</h2>
    <ul id="runs"></ul>
    <button id="more" class="quiet" hidden>Show more</button>
  </nav>
  <main id="main" tabindex="-1">
    <section aria-labelledby="approvals-title" id="approvals-section" hidden>
      <h2 id="approvals-title">Waiting for you</h2>
      <div id="approvals"></div>
    </section>
    <article id="run" hidden></article>
    <div id="welcome">
      <h2>No run selected</h2>
      <p>Start one, or choose one from the list. When the agent wants to do something that needs a person, it asks here and waits, for days if need be.</p>
    </div>
  </main>
</div>
<noscript><p class="noscript">This page needs JavaScript. The same is possible with <code>npx handrail</code> and the API.</p></noscript>
</body>
</html>
`;
