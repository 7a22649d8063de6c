import type { PlacedEvent } from '../../core/loop/event.ts';
import type { Run } from '../../core/loop/run.ts';
import type { ApprovalForm, FormProblem } from '../approval-form.ts';
import type { AuthStrategy } from '../auth/strategy.ts';
import type { ApprovalView } from '../views/approval-view.ts';
import { approvalCard, fieldId, reasonField } from './approval-card.ts';
import { documentOf } from './document.ts';
import { type Html, html } from './html.ts';
import { runSection } from './run-section.ts';
import { countText, spanText, timeOf } from './shown.ts';

/** Everything that the page shows. */
export interface ApprovalPage {
  readonly suspensionId: string;
  /** Of one suspension, at least one. */
  readonly approvals: readonly ApprovalView[];
  readonly run: Run | undefined;
  /** Events of the run up to where it asked. */
  readonly events: readonly PlacedEvent[];
  readonly now: number;
  /** Whether this visitor may decide, and if not, why. */
  readonly may: 'decide' | 'look: sign in' | 'look: no permission';
  /** How people sign in here, since nobody can on this page itself. */
  readonly signIn: AuthStrategy['console']['signIn'];
  /** Of this server, as the visitor reached it. */
  readonly origin: string;
  /** Of the link, for the form. */
  readonly token: string | undefined;
  /** What was sent, kept so that nobody types twice. */
  readonly form: ApprovalForm | undefined;
  readonly problem: FormProblem | undefined;
}

/** The approval page (design 5.3): what is asked, why, by what run; forms to decide that need no script. */
export function approvalPage(page: ApprovalPage): string {
  const pending = page.approvals.filter(({ status }) => status === 'pending');
  const title = titleOf(page.approvals, pending);
  const cards = page.approvals.map((approval, index) => approvalCard(page, approval, { number: index + 1, of: page.approvals.length }));
  const decidable = page.may === 'decide' && pending.length > 0;
  return documentOf(
    page.problem ? `Not decided: ${title}` : title,
    html`${pillOf(page.approvals, pending)}
<h1>${title}</h1>
${leadOf(page, pending)}
${page.may === 'decide' || pending.length === 0 ? undefined : lookOnly(page, pending)}
${page.problem && problemBox(page.problem)}
${decidable ? formOf(page, pending, cards) : cards}
${pending.length > 0 && page.run ? runSection(page.run, page.events, page.now) : undefined}
${footerOf(page, pending)}`,
  );
}

function formOf(page: ApprovalPage, pending: readonly ApprovalView[], cards: readonly Html[]): Html {
  return html`<form method="post" action="/a/${page.suspensionId}" autocomplete="off">
${page.token !== undefined && html`<input type="hidden" name="t" value="${page.token}">`}
${pending.map(({ callId }) => html`<input type="hidden" name="asked" value="${callId}">`)}
${cards}
${allOf(page, pending)}
</form>`;
}

/** Approvals that can be decided by one click. Questions each want an answer of their own. */
function allOf(page: ApprovalPage, pending: readonly ApprovalView[]): Html | undefined {
  const calls = pending.filter(({ kind }) => kind !== 'question').length;
  if (calls < 2) return undefined;
  const which = calls === 2 ? 'both' : `all ${calls}`;
  return html`<section class="card all" aria-labelledby="all"><div>
<h2 id="all">${which === 'both' ? 'Both calls' : `All ${calls} calls`} at once</h2>
<p class="why">Have you read each of them? One press here decides ${which}.</p>
<div class="buttons first">${reasonField(page, 'all')}</div>
<div class="buttons">
<button class="primary" name="do" value="approve-all">Approve ${which}</button>
<button class="danger" name="do" value="reject-all">Reject ${which}</button>
</div></div></section>`;
}

function titleOf(approvals: readonly ApprovalView[], pending: readonly ApprovalView[]): string {
  const [first] = pending;
  if (first && pending.length > 1) return `${pending.length} decisions are waiting for you`;
  if (first) return first.kind === 'question' ? 'The agent has a question' : `May ${first.tool} run?`;
  const statuses = new Set(approvals.map(({ status }) => status));
  const [status] = statuses;
  if (statuses.size > 1 || status === undefined) return 'Everything is decided';
  const what =
    approvals.length === 1
      ? approvals[0]?.kind === 'question'
        ? 'The question'
        : `${approvals[0]?.tool}`
      : `All ${approvals.length} calls`;
  const plural = approvals.length > 1;
  switch (status) {
    case 'approved':
    case 'edited':
      return `${what} ${plural ? 'were' : 'was'} approved`;
    case 'rejected':
      return `${what} ${plural ? 'were' : 'was'} rejected`;
    case 'answered':
      return `${what} ${plural ? 'were' : 'was'} answered`;
    case 'expired':
      return 'The time to decide is over';
    default:
      return 'Nobody needs to decide any more';
  }
}

function pillOf(approvals: readonly ApprovalView[], pending: readonly ApprovalView[]): Html {
  if (pending.length > 0) return html`<span class="pill ask">Waiting for you</span>`;
  if (approvals.some(({ status }) => status === 'expired')) return html`<span class="pill bad">Expired</span>`;
  if (approvals.every(({ status }) => status === 'cancelled')) return html`<span class="pill none">Cancelled</span>`;
  return html`<span class="pill good">Decided</span>`;
}

function leadOf(page: ApprovalPage, pending: readonly ApprovalView[]): Html {
  if (pending.length === 0) return html`<p class="lead">${afterwards(page)}</p>`;
  const until = Math.min(...pending.map(({ expiresAt }) => expiresAt));
  const questions = pending.filter(({ kind }) => kind === 'question').length;
  const calls = pending.length - questions;
  const about = [calls > 0 && countText(calls, 'call'), questions > 0 && countText(questions, 'question')].filter(Boolean).join(' and ');
  const decided = page.approvals.length - pending.length;
  return html`<p class="lead">You decide about ${about}${decided > 0 ? `; ${decided} more ${decided === 1 ? 'is' : 'are'} decided already` : ''}. The run waits, and ${
    calls > 0 ? 'none of this has run yet' : 'goes on with your answer'
  }.</p>
<p class="lead"><span class="left">${spanText(until - page.now)} left</span> <span class="soft">until ${timeOf(until)}; ${
    calls > 0 ? 'what is not decided by then does not run' : 'after that the agent is told that nobody answered'
  }.</span></p>`;
}

function afterwards({ approvals, run }: ApprovalPage): string {
  const statuses = new Set(approvals.map(({ status }) => status));
  if (statuses.size === 1 && statuses.has('expired')) return 'Nobody decided in time, so it did not run. The agent was told.';
  if (statuses.size === 1 && statuses.has('cancelled')) return 'The run was cancelled before anybody decided. Nothing of this ran.';
  const state = run === undefined ? '' : (RUN_STATES[run.status] ?? '');
  return `Nothing is left for you to do here.${state === '' ? '' : ` The run ${state}.`}`;
}

const RUN_STATES: Readonly<Partial<Record<Run['status'], string>>> = {
  running: 'is going on',
  waiting: 'is waiting, perhaps for another decision',
  succeeded: 'has ended well',
  failed: 'has failed',
  cancelled: 'was cancelled',
  limited: 'was ended by a limit',
};

function lookOnly({ may, signIn, origin }: ApprovalPage, [first]: readonly ApprovalView[]): Html {
  if (may === 'look: no permission')
    return html`<div class="note" role="note"><b>You can only look.</b> Deciding needs the permission <code>approve</code>.</div>`;
  return html`<div class="note" role="note"><b>This link only shows.</b> Here a decision needs a person who has signed in and did not start the run
themselves: ${
    signIn === 'signature'
      ? html`in the console that <code>npx handrail console --url ${origin}</code> opens`
      : html`in <a href="/#/runs/${first?.runId}">the console</a>`
  }, or with <code>npx handrail approve ${first?.approvalId}${signIn === 'cookie' ? '' : ` --url ${origin}`}</code>.</div>`;
}

function problemBox({ message, callId, field }: FormProblem): Html {
  const at = callId !== undefined && field !== undefined ? `#${fieldId(field, callId)}` : undefined;
  return html`<div class="problem" role="alert"><h2>Nothing was decided</h2><p>${message}</p>${
    at && html`<p><a href="${at}">Go to the field</a></p>`
  }</div>`;
}

function footerOf({ suspensionId, token }: ApprovalPage, pending: readonly ApprovalView[]): Html {
  return html`<footer>
${token !== undefined && pending.length > 0 && html`<p>This link is for you: whoever opens it can do here what you can. Do not pass it on.</p>`}
<p>Request ${suspensionId}</p>
</footer>`;
}
