import { createHash } from 'node:crypto';
import { approvalStyle } from './approval-style.ts';
import { type Html, html, trusted } from './html.ts';

const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24'%3E%3Cpath d='M5 21V6m14 15V6M3 6h18' fill='none' stroke='%230f766e' stroke-width='3' stroke-linecap='round'/%3E%3C/svg%3E";

/** What the page may do: be shown, with this one style sheet, and send its form back to us. No script, no frame, no other host. */
export const PAGE_POLICY =
  `default-src 'none'; style-src 'sha256-${createHash('sha256').update(approvalStyle).digest('base64')}'; img-src data:; ` +
  "form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/** A whole page, as text. */
export function documentOf(title: string, main: Html): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<meta name="referrer" content="no-referrer">
<title>${title} · Handrail</title>
<link rel="icon" href="${trusted(ICON)}">
<style>${trusted(approvalStyle)}</style>
</head>
<body>
<header><div><svg viewBox="0 0 24 24" aria-hidden="true"><path d="M5 21V6m14 15V6M3 6h18"/></svg>Handrail</div></header>
<main>${main}</main>
</body>
</html>
`.text;
}

/** Pages that show nothing of anybody: what stands in the way, and what to do. */
export function plainPage(title: string, ...paragraphs: readonly Html[]): string {
  return documentOf(title, html`<h1>${title}</h1>${paragraphs.map((paragraph) => html`<p class="lead">${paragraph}</p>`)}`);
}
