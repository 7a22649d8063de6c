import type { PlacedEvent } from '../../core/loop/event.ts';
import type { Run } from '../../core/loop/run.ts';
import { maskSecrets } from '../../core/preview.ts';
import { type Html, html } from './html.ts';
import { agoText, moneyText, shown, spanText } from './shown.ts';

/** The run so far, short: enough to know what a call is for. */
const TASK_CHARACTERS = 1_500;
const STEPS = 8;
const STEP_CHARACTERS = 160;

export function runSection(run: Run, events: readonly PlacedEvent[], now: number): Html {
  const task = run.input.length > TASK_CHARACTERS ? `${run.input.slice(0, TASK_CHARACTERS).toWellFormed()}…` : run.input;
  const steps = stepsOf(events);
  const root = run.frames[0];
  return html`<section class="run" aria-labelledby="run"><h2 id="run">The run so far</h2>
<div class="note"><p class="task" dir="auto" tabindex="0" role="group" aria-label="Task">${shown(maskSecrets(task))}</p>
<dl class="numbers">
<div><dt>Started</dt><dd>${agoText(now - run.createdAt)}</dd></div>
<div><dt>By</dt><dd>${shown(run.principal)}</dd></div>
<div><dt>Agent</dt><dd>${shown(run.agent)}</dd></div>
<div><dt>Cost</dt><dd>${moneyText(run.usage.costUsd)}</dd></div>
<div><dt>Tokens</dt><dd>${run.usage.totalTokens.toLocaleString('en')}</dd></div>
<div><dt>Model calls</dt><dd>${root?.iterations ?? 0}</dd></div>
<div><dt>Worked for</dt><dd>${run.activeMs < 60_000 ? `${Math.round(run.activeMs / 1000)} s` : spanText(run.activeMs)}</dd></div>
</dl>
${steps.length > 0 && html`<ol class="steps" aria-label="Last calls">${steps}</ol>`}
</div></section>`;
}

/** The last calls that ran, oldest first, each with how it ended. */
function stepsOf(events: readonly PlacedEvent[]): Html[] {
  const calls = new Map<string, Html>();
  for (const { type, data } of events) {
    const { callId, tool } = data;
    if (typeof callId !== 'string' || typeof tool !== 'string') continue;
    const line = (what: string, preview: unknown) =>
      html`<li><code>${shown(tool)}</code> ${what}${typeof preview === 'string' && preview !== '' && html`: <span class="what">${shown(short(preview))}</span>`}</li>`;
    if (type === 'tool.call.started') calls.set(callId, line('was called', data['args_preview']));
    if (type === 'tool.call.completed') calls.set(callId, line('answered', data['result_preview']));
    if (type === 'tool.call.failed') calls.set(callId, line('failed', errorText(data['error'])));
  }
  return [...calls.values()].slice(-STEPS);
}

function errorText(error: unknown): string {
  if (typeof error === 'string') return error;
  return typeof error === 'object' && error !== null && 'message' in error ? String(error.message) : '';
}

function short(text: string): string {
  const line = maskSecrets(text).replaceAll(/\s+/g, ' ').trim();
  return line.length > STEP_CHARACTERS ? `${line.slice(0, STEP_CHARACTERS).toWellFormed()}…` : line;
}
