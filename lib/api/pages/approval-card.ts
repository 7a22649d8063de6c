import { choicesOf } from '../../core/guard/approvals/decide.ts';
import { maskJson, maskSecrets } from '../../core/preview.ts';
import { type ApprovalForm, editorText, type FormProblem } from '../approval-form.ts';
import type { ApprovalView } from '../views/approval-view.ts';
import { type Html, html } from './html.ts';
import { agoText, factsOf, shown, timeOf } from './shown.ts';

/** What a card needs to know of its page. */
export interface CardContext {
  readonly now: number;
  readonly may: 'decide' | 'look: sign in' | 'look: no permission';
  readonly form: ApprovalForm | undefined;
  readonly problem: FormProblem | undefined;
}

type Field = 'arguments' | 'reason' | 'answer';
export const fieldId = (field: Field, callId: string): string => `${field}-${callId}`;

/** One decision: what is asked and why, then the ways to decide, or who has decided what. */
export function approvalCard(context: CardContext, approval: ApprovalView, place: { number: number; of: number }): Html {
  const { callId, status } = approval;
  const id = `call-${callId}`;
  const open = status === 'pending' && context.may === 'decide';
  return html`<section class="card ${TONES[status]}" aria-labelledby="${id}">
<div>
<h2 id="${id}">${place.of > 1 && html`<span class="number">${place.number} of ${place.of}</span>`}${headOf(approval)}</h2>
${approval.kind !== 'question' && html`<p class="why"><b>${status === 'pending' ? 'Why you are asked' : 'Why a person was asked'}:</b> ${shown(approval.reason)}</p>`}
${bodyOf(approval)}
${status !== 'pending' && outcomeOf(context, approval)}
</div>
${open && html`<div class="decide">${approval.kind === 'question' ? answering(context, approval) : deciding(context, approval, place.of)}</div>`}
</section>`;
}

const TONES: Readonly<Record<ApprovalView['status'], string>> = {
  pending: 'ask',
  approved: 'good',
  edited: 'good',
  answered: 'good',
  rejected: 'bad',
  expired: 'bad',
  cancelled: 'none',
};

function headOf({ kind, tool }: ApprovalView): Html {
  if (kind === 'question') return html`Question`;
  return kind === 'node' ? html`Step <code>${shown(tool)}</code> of a workflow` : html`<code>${shown(tool)}</code>`;
}

/** Secrets are masked here too: the decision is bound to the whole call by its hash, not to what is shown. */
function bodyOf(approval: ApprovalView): Html {
  const { kind, arguments: args, argumentsCut, tool } = approval;
  const { question } = args;
  if (kind === 'question' && typeof question === 'string') return html`<p class="question" dir="auto">${shown(maskSecrets(question))}</p>`;
  const masked = maskJson(args);
  return html`${factsOf(masked, tool)}
${JSON.stringify(masked) !== JSON.stringify(args) && html`<p class="why">*** stands for what looks like a secret. The tool gets the real value.</p>`}
${argumentsCut && html`<p class="why"><b>This is not all of it.</b> The arguments are too large to be shown whole; what would run is all of them.</p>`}`;
}

function deciding(context: CardContext, approval: ApprovalView, count: number): Html {
  const { callId } = approval;
  const what = count > 1 ? ' this call' : '';
  return html`${reasonField(context, callId)}
${approval.kind === 'tool' && !approval.argumentsCut && editor(context, approval)}
<div class="buttons">
<button class="primary" name="do" value="approve:${callId}" aria-describedby="call-${callId}">Approve${what}</button>
<button class="danger" name="do" value="reject:${callId}" aria-describedby="call-${callId}">Reject${what}</button>
</div>`;
}

/** `callId` may be `all`. */
export function reasonField(context: Pick<CardContext, 'form' | 'problem'>, callId: string, name = 'Reason'): Html {
  return field(context, 'reason', callId, {
    label: html`${name} <span>(if you like; the agent reads it)</span>`,
    rows: 2,
    text: context.form?.text('reason', callId) ?? '',
  });
}

const EDITOR_ROWS = { min: 5, max: 18 };

function editor(context: CardContext, approval: ApprovalView): Html {
  const { callId } = approval;
  const original = editorText(approval);
  const text = context.form?.text('arguments', callId) ?? original;
  const open = text !== original || wrongIn(context, 'arguments', callId) !== undefined;
  const rows = Math.min(EDITOR_ROWS.max, Math.max(EDITOR_ROWS.min, text.split('\n').length + 1));
  return html`<details${open ? html` open` : undefined}><summary>Change the arguments first</summary><div>
${field(context, 'arguments', callId, { label: html`Arguments, as JSON`, rows, text, code: true })}
<div class="buttons"><button name="do" value="edit:${callId}">Approve with these arguments</button></div>
</div></details>`;
}

function answering(context: CardContext, approval: ApprovalView): Html {
  const { callId } = approval;
  const choices = choicesOf(approval);
  const decline = html`<button class="danger" name="do" value="reject:${callId}">Do not answer</button>`;
  if (choices)
    return html`<div class="choices" role="group" aria-labelledby="call-${callId}">${choices.map(
      (choice, index) => html`<button name="do" value="choose:${callId}:${index}">${shown(maskSecrets(choice))}</button>`,
    )}</div>${reasonField(context, callId, 'Reason for giving no answer')}<div class="buttons">${decline}</div>`;
  return html`${field(context, 'answer', callId, { label: html`Your answer`, rows: 4, text: context.form?.text('answer', callId) ?? '' })}
<div class="buttons"><button class="primary" name="do" value="answer:${callId}">Send the answer</button>${decline}</div>`;
}

interface FieldSpec {
  readonly label: Html;
  readonly rows: number;
  readonly text: string;
  readonly code?: boolean;
}

function field(context: Pick<CardContext, 'problem'>, name: Field, callId: string, { label, rows, text, code }: FieldSpec): Html {
  const id = fieldId(name, callId);
  const wrong = wrongIn(context, name, callId);
  const state = wrong === undefined ? undefined : html` aria-invalid="true" aria-describedby="${id}-wrong"`;
  // A line break right after the tag is not part of the text, so that one that is stays.
  return html`<div class="field"><label for="${id}">${label}</label>
<textarea id="${id}" name="${name}.${callId}" rows="${rows}" dir="${code ? 'ltr' : 'auto'}"${code ? html` class="code" spellcheck="false" autocapitalize="off"` : undefined}${state}>
${text}</textarea>${wrong !== undefined && html`<p class="wrong" id="${id}-wrong">${wrong}</p>`}</div>`;
}

function wrongIn({ problem }: Pick<CardContext, 'problem'>, name: Field, callId: string): string | undefined {
  return problem?.callId === callId && problem.field === name ? problem.message : undefined;
}

const OUTCOMES: Readonly<Record<Exclude<ApprovalView['status'], 'pending'>, string>> = {
  approved: 'Approved',
  edited: 'Approved with other arguments',
  answered: 'Answered',
  rejected: 'Rejected',
  expired: 'Expired: nobody decided in time',
  cancelled: 'Cancelled before anybody decided',
};

function outcomeOf({ now }: CardContext, approval: ApprovalView): Html {
  const { status, decision, expiresAt } = approval;
  if (status === 'pending') return html``;
  const by = decision && decision.how !== 'sweep' && decision.how !== 'cancel' ? html` by ${whoOf(decision.by)}` : undefined;
  const at = status === 'expired' ? expiresAt : (decision?.at ?? expiresAt);
  return html`<div class="outcome ${TONES[status]}">
<p><b>${OUTCOMES[status]}</b>${by} <span class="soft">${agoText(now - at)}, ${timeOf(at)}</span></p>
${decision?.reason && html`<p class="said" dir="auto">${shown(maskSecrets(decision.reason))}</p>`}
${decision?.answer !== undefined && html`<p class="said" dir="auto">${shown(maskSecrets(decision.answer))}</p>`}
${decision?.arguments && html`<p class="why"><b>What runs instead:</b></p>${factsOf(maskJson(decision.arguments), 'Changed')}`}
</div>`;
}

/** Whoever came by a link is known by nothing else. */
const whoOf = (by: string): Html => (by.startsWith('link:') ? html`someone with the link (${by.slice('link:'.length)})` : shown(by));
