/** Style of the console, one sheet for phone and desk, light and dark. */
export const consoleStyle = `
:root {
  color-scheme: light dark;
  --ground: #f7f6f3; --card: #fff; --ink: #1d1f1e; --soft: #5c6360; --line: #dfdcd5; --rail: #cfd8d4;
  --accent: #0f766e; --on-accent: #fff; --ask: #b45309; --ask-ground: #fff7e8; --ask-line: #f0d9ae;
  --good: #15803d; --bad: #b91c1c; --code: #f1efea;
  --sans: system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
  --mono: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #141716; --card: #1c201f; --ink: #e8eae7; --soft: #9aa4a0; --line: #2f3533; --rail: #35403c;
    --accent: #5eead4; --on-accent: #06251f; --ask: #fbbf24; --ask-ground: #292211; --ask-line: #54431a;
    --good: #4ade80; --bad: #f87171; --code: #242928;
  }
}
* { box-sizing: border-box; }
[hidden] { display: none !important; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 16px/1.5 var(--sans); }
h1, h2, h3, p, ul, ol, dl, dd, pre { margin: 0; padding: 0; }
ul, ol { list-style: none; }
a { color: var(--accent); }
.skip { position: absolute; left: -999px; }
.skip:focus { left: 1rem; top: .5rem; background: var(--card); padding: .25rem .75rem; z-index: 2; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }

header { display: flex; align-items: center; gap: .6rem; padding: .8rem 1.25rem; border-bottom: 1px solid var(--line); background: var(--card); }
header h1 { font-size: 1.05rem; letter-spacing: .01em; }
.mark { width: 1.4rem; height: 1.4rem; fill: none; stroke: var(--accent); stroke-width: 2.6; stroke-linecap: round; }
#connection { margin-left: auto; color: var(--soft); font-size: .85rem; }

#layout { display: grid; grid-template-columns: minmax(16rem, 21rem) minmax(0, 1fr); max-width: 82rem; margin: 0 auto; }
nav { padding: 1.25rem; border-right: 1px solid var(--line); min-height: calc(100vh - 3.5rem); }
nav h2, #approvals-title, .label { font-size: .78rem; font-weight: 600; letter-spacing: .06em; text-transform: uppercase; color: var(--soft); margin: 1.5rem 0 .5rem; }
main { padding: 1.25rem clamp(1rem, 3vw, 2.5rem) 4rem; outline: none; }
main > section:first-child h2 { margin-top: 0; }
#run { margin-top: 1.5rem; } #approvals-section[hidden] + #run { margin-top: 0; }
#welcome { max-width: 34rem; margin: 12vh auto; text-align: center; color: var(--soft); }
#welcome h2 { color: var(--ink); font-size: 1.15rem; margin-bottom: .5rem; }

label { display: block; font-weight: 600; margin-bottom: .35rem; }
textarea, input:not([type=checkbox]) { width: 100%; font: inherit; color: inherit; background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: .55rem .7rem; }
textarea { resize: vertical; min-height: 4.5rem; }
::placeholder { color: var(--soft); opacity: .8; }
.check { display: flex; gap: .5rem; align-items: center; font-weight: 400; font-size: .9rem; margin: .5rem 0 0; }
.check input { accent-color: var(--accent); width: 1.1rem; height: 1.1rem; }
button { font: inherit; font-weight: 600; min-height: 2.6rem; padding: .4rem 1rem; border-radius: .5rem; border: 1px solid var(--line); background: var(--card); color: inherit; cursor: pointer; }
button:hover { border-color: var(--soft); }
button:disabled { opacity: .55; cursor: progress; }
button.primary { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
button.danger { color: var(--bad); }
button.quiet { border: 0; background: none; color: var(--accent); padding-inline: 0; }
#composer button { width: 100%; margin-top: .6rem; }
[role=alert] { color: var(--bad); font-size: .9rem; margin-top: .4rem; overflow-wrap: anywhere; }
[role=alert]:empty { display: none; }

#runs a { display: grid; grid-template-columns: auto 1fr auto; gap: .1rem .6rem; align-items: baseline; padding: .55rem .6rem; margin: 0 -.6rem; border-radius: .5rem; color: inherit; text-decoration: none; }
#runs a:hover { background: var(--card); }
#runs a[aria-current] { background: var(--card); box-shadow: inset 3px 0 var(--accent); }
#runs .text { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
#runs .sub { grid-column: 2 / 4; color: var(--soft); font-size: .82rem; }
.dot { width: .6rem; height: .6rem; border-radius: 50%; background: var(--soft); align-self: center; }
[data-status=running] .dot { background: var(--accent); animation: pulse 1.6s infinite; }
[data-status=waiting] .dot { background: var(--ask); }
[data-status=succeeded] .dot { background: var(--good); }
[data-status=failed] .dot { background: var(--bad); }
[data-status=limited] .dot { background: none; box-shadow: inset 0 0 0 2px var(--ask); }
[data-status=cancelled] .dot { background: none; box-shadow: inset 0 0 0 2px var(--soft); }
@keyframes pulse { 50% { opacity: .35; } }
@media (prefers-reduced-motion: reduce) { * { animation: none !important; } }

.approval { background: var(--ask-ground); border: 1px solid var(--ask-line); border-left: 4px solid var(--ask); border-radius: .6rem; padding: 1rem 1.1rem; margin-bottom: 1rem; }
.approval h3 { font-size: 1.05rem; }
.approval h3 code { color: var(--ask); background: none; padding: 0; }
.approval .why { color: var(--soft); font-size: .9rem; margin: .15rem 0 .7rem; overflow-wrap: anywhere; }
.decide { display: flex; flex-wrap: wrap; gap: .6rem; margin-top: .9rem; align-items: center; }
.decide .reason { flex: 1 1 12rem; width: auto; }

.facts dt { font-size: .82rem; color: var(--soft); margin-top: .4rem; }
pre, code { font-family: var(--mono); font-size: .85rem; }
pre { background: var(--code); border-radius: .4rem; padding: .5rem .7rem; overflow: auto; max-height: 20rem; white-space: pre-wrap; overflow-wrap: anywhere; }
code { background: var(--code); border-radius: .25rem; padding: .05em .3em; }

.title { display: flex; flex-wrap: wrap; gap: .6rem 1rem; align-items: center; }
.title h2 { font-size: 1.2rem; flex: 1 1 14rem; overflow-wrap: anywhere; white-space: pre-wrap; display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 6; overflow: hidden; }
.badge { display: inline-flex; align-items: center; gap: .45rem; border: 1px solid var(--line); border-radius: 2rem; padding: .15rem .75rem; font-size: .88rem; background: var(--card); }
.numbers { display: flex; flex-wrap: wrap; gap: .2rem 1.4rem; color: var(--soft); font-size: .88rem; margin: .6rem 0 0; }
.numbers b { color: var(--ink); font-weight: 600; font-variant-numeric: tabular-nums; }
.answer { background: var(--card); border: 1px solid var(--line); border-radius: .6rem; padding: 1rem 1.1rem; margin-top: 1rem; white-space: pre-wrap; overflow-wrap: anywhere; }
.answer.error { border-left: 4px solid var(--bad); }

#events { position: relative; margin-top: .4rem; }
#events li { position: relative; padding: 0 0 .85rem 1.6rem; }
#events li::before { content: ""; position: absolute; left: .33rem; top: .5rem; bottom: -.5rem; width: 2px; background: var(--rail); }
#events li:last-child::before { display: none; }
#events li::after { content: ""; position: absolute; left: 0; top: .42rem; width: .75rem; height: .75rem; border-radius: 50%; background: var(--card); border: 2px solid var(--rail); }
#events .good::after { border-color: var(--good); } #events .bad::after { border-color: var(--bad); background: var(--bad); }
#events .ask::after { border-color: var(--ask); background: var(--ask); } #events .busy::after { border-color: var(--accent); }
#events .head { display: flex; gap: .8rem; align-items: baseline; }
#events .head .what { overflow-wrap: anywhere; }
#events time { margin-left: auto; color: var(--soft); font-size: .8rem; font-variant-numeric: tabular-nums; white-space: nowrap; }
#events .minor .what { color: var(--soft); font-size: .88rem; }
#events pre { margin-top: .3rem; max-height: 12rem; }

#sign-in { max-width: 26rem; margin: 12vh auto; padding: 0 1.25rem; }
#sign-in h2 { margin-bottom: .4rem; } #sign-in p { color: var(--soft); margin-bottom: 1rem; } #sign-in button { margin-top: .7rem; width: 100%; }
.noscript { padding: 2rem; text-align: center; }
.back { display: none; }

@media (max-width: 48rem) {
  #layout { display: flex; flex-direction: column; }
  nav { border: 0; min-height: 0; padding-bottom: 3rem; }
  body:not(.reading) main { order: -1; padding-bottom: 0; }
  body.reading nav { display: none; }
  .back { display: inline-block; margin: 0 0 .75rem; color: var(--accent); padding: .4rem 0; }
  #welcome { display: none; }
  .decide button { flex: 1 1 8rem; }
  .decide .reason { flex-basis: 100%; }
}
`;
