/** Style of the approval page, inline so that the page is one request; one sheet for phone and desk, light and dark. */
export const approvalStyle = `
:root {
  color-scheme: light dark;
  --ground: #f6f5f1; --card: #fff; --ink: #1b1e1d; --soft: #59605d; --line: #dcd9d1; --code: #f2f0ea;
  --accent: #0b6b63; --on-accent: #fff; --ask: #a34a06; --ask-ground: #fdf3e1; --good: #15703a; --good-ground: #e7f4ea;
  --bad: #b01c1c; --bad-ground: #fdeceb; --mark: #7a1fa2; --mark-ground: #f5e6fb;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #121514; --card: #1b1f1e; --ink: #e9ebe8; --soft: #a2aca8; --line: #313836; --code: #232827;
    --accent: #5eead4; --on-accent: #05241e; --ask: #fbbf24; --ask-ground: #2c2410; --good: #5fdc8b; --good-ground: #12281a;
    --bad: #ff8a80; --bad-ground: #331716; --mark: #e3b1f5; --mark-ground: #37203f;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
h1, h2, h3, p, ul, ol, dl, dt, dd, pre { margin: 0; padding: 0; }
ul, ol { list-style: none; }
a { color: var(--accent); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
pre, code, textarea.code { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: .875rem; }
code { overflow-wrap: anywhere; }
.soft { color: var(--soft); font-size: .9rem; }

header { background: var(--card); border-bottom: 1px solid var(--line); }
header div { max-width: 46rem; margin: 0 auto; padding: .7rem 1rem; display: flex; align-items: center; gap: .55rem; font-weight: 600; }
header svg { width: 1.35rem; height: 1.35rem; fill: none; stroke: var(--accent); stroke-width: 2.6; stroke-linecap: round; }
main { max-width: 46rem; margin: 0 auto; padding: 1.4rem 1rem 3rem; }
h1 { font-size: 1.5rem; line-height: 1.25; letter-spacing: -.01em; text-wrap: balance; overflow-wrap: anywhere; }
h1 code { font-size: .92em; }
.lead { margin-top: .5rem; }
.lead + .lead { margin-top: .35rem; }
.left { font-weight: 600; white-space: nowrap; }
.pill { display: inline-block; font-size: .78rem; font-weight: 600; letter-spacing: .02em; border-radius: 1rem; padding: .12rem .65rem; margin-bottom: .6rem; border: 1px solid currentColor; }
.pill.ask { color: var(--ask); background: var(--ask-ground); } .pill.good { color: var(--good); background: var(--good-ground); }
.pill.bad { color: var(--bad); background: var(--bad-ground); } .pill.none { color: var(--soft); background: var(--card); }

.problem { background: var(--bad-ground); border: 1px solid var(--bad); border-radius: .7rem; padding: .85rem 1rem; margin-top: 1.1rem; }
.problem h2 { font-size: 1rem; color: var(--bad); }
.problem p { overflow-wrap: anywhere; }
.note { background: var(--card); border: 1px solid var(--line); border-radius: .7rem; padding: .85rem 1rem; margin-top: 1.1rem; }
.note code { background: var(--code); border-radius: .25rem; padding: .05em .35em; }

.card { background: var(--card); border: 1px solid var(--line); border-radius: .9rem; margin-top: 1.1rem; overflow: hidden; }
.card > div { padding: 1rem 1rem 1.1rem; }
.card.ask { border-top: 4px solid var(--ask); } .card.good { border-top: 4px solid var(--good); } .card.bad { border-top: 4px solid var(--bad); } .card.none { border-top: 4px solid var(--soft); }
.card h2 { font-size: 1.1rem; overflow-wrap: anywhere; }
.card h2 code { font-size: 1.02em; }
.card h2 .number { color: var(--soft); font-weight: 500; font-size: .88rem; display: block; }
.why { margin-top: .35rem; color: var(--soft); font-size: .92rem; overflow-wrap: anywhere; }
.why b { color: var(--ink); font-weight: 600; }
.question { font-size: 1.15rem; margin-top: .5rem; white-space: pre-wrap; overflow-wrap: anywhere; }
.facts { margin-top: .8rem; display: grid; gap: .7rem; }
.facts .short { display: flex; flex-wrap: wrap; align-items: baseline; gap: .2rem .8rem; }
.facts .short dt { min-width: 4.5rem; } .facts .short dd { flex: 1 1 10rem; min-width: 0; }
.facts .short pre { margin: 0; padding: .35rem .75rem; }
.facts dt { font-size: .85rem; font-weight: 600; overflow-wrap: anywhere; }
.size { color: var(--soft); font-weight: 400; }
pre { background: var(--code); border-radius: .5rem; padding: .6rem .75rem; margin-top: .2rem; overflow: auto; max-height: 28rem; white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: isolate; tab-size: 4; }
.mark { color: var(--mark); background: var(--mark-ground); border-radius: .2rem; padding: 0 .15em; font-size: .92em; }

.decide { border-top: 1px solid var(--line); }
label { display: block; font-weight: 600; font-size: .92rem; margin-bottom: .3rem; }
label span { font-weight: 400; color: var(--soft); }
textarea { width: 100%; font: inherit; color: inherit; background: var(--ground); border: 1px solid var(--soft); border-radius: .55rem; padding: .55rem .7rem; resize: vertical; }
textarea.code { line-height: 1.45; white-space: pre-wrap; overflow-wrap: anywhere; }
textarea[aria-invalid] { border: 2px solid var(--bad); }
.wrong { color: var(--bad); font-weight: 600; font-size: .92rem; margin-top: .35rem; overflow-wrap: anywhere; white-space: pre-wrap; }
details { margin-top: .8rem; border: 1px solid var(--line); border-radius: .55rem; }
summary { padding: .65rem .8rem; font-weight: 600; font-size: .92rem; cursor: pointer; }
details[open] summary { border-bottom: 1px solid var(--line); }
details > div { padding: .8rem; }
.buttons { display: flex; flex-wrap: wrap; gap: .65rem; margin-top: .9rem; }
button { font: inherit; font-weight: 600; min-height: 2.9rem; padding: .45rem 1.2rem; border-radius: .6rem; border: 1px solid var(--soft); background: var(--card); color: inherit; cursor: pointer; overflow-wrap: anywhere; }
.buttons button { flex: 1 1 9rem; }
button:hover { border-color: var(--ink); }
button.primary { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
button.primary:hover { filter: brightness(1.08); }
button.danger { color: var(--bad); border-color: var(--bad); }
.outcome { border-left: 4px solid var(--soft); padding: .1rem 0 .1rem .8rem; margin-top: 1rem; }
.outcome.good { border-color: var(--good); } .outcome.bad { border-color: var(--bad); }
.said { margin-top: .3rem; white-space: pre-wrap; overflow-wrap: anywhere; }
.choices { display: grid; gap: .5rem; margin: 0 0 1rem; }
.choices button { text-align: left; width: 100%; background: var(--ground); }
.all h2 { font-size: 1.1rem; }

.run { margin-top: 2rem; }
.run h2 { font-size: 1.05rem; margin-bottom: .5rem; }
.task { white-space: pre-wrap; overflow-wrap: anywhere; max-height: 12rem; overflow: auto; }
.numbers { display: grid; grid-template-columns: repeat(auto-fit, minmax(7.5rem, 1fr)); gap: .6rem 1rem; margin-top: .9rem; }
.numbers dt { color: var(--soft); font-size: .82rem; } .numbers dd { font-weight: 600; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.steps { margin-top: 1rem; border-top: 1px solid var(--line); }
.steps li { padding: .5rem 0; border-bottom: 1px solid var(--line); font-size: .92rem; overflow-wrap: anywhere; }
.steps li:last-child { border-bottom: 0; padding-bottom: 0; }
.steps .what { color: var(--soft); }
footer { margin-top: 2rem; color: var(--soft); font-size: .82rem; overflow-wrap: anywhere; }
footer p + p { margin-top: .3rem; }
@media (min-width: 40rem) {
  main { padding-top: 2.2rem; } h1 { font-size: 1.8rem; } .card > div { padding: 1.2rem 1.4rem 1.3rem; }
  .buttons button { flex: 0 1 auto; min-width: 9rem; }
}
`;
