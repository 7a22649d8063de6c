import * as z from 'zod';
import { CODES, HandrailError } from '../../core/errors.ts';
import type { Suspension } from '../../core/guard/approvals/suspension.ts';
import { suspensionIdSchema } from '../../core/ids.ts';
import { type ApprovalForm, approvalForm, decisionsOf, type FormProblem } from '../approval-form.ts';
import { readFormBody } from '../body.ts';
import { decideAudited } from '../decide.ts';
import { type ApprovalPage, approvalPage } from '../pages/approval-page.ts';
import { PAGE_POLICY, plainPage } from '../pages/document.ts';
import { html } from '../pages/html.ts';
import { countText } from '../pages/shown.ts';
import type { Principal } from '../principal.ts';
import { HttpError } from '../problem.ts';
import { type ExtraHeaders, empty, page } from '../respond.ts';
import type { Call, Route } from '../route.ts';
import { approvalViews } from '../views/approval-view.ts';

const params = z.strictObject({ suspensionId: suspensionIdSchema });
const shared = {
  path: '/a/{suspensionId}',
  access: 'public',
  page: true,
  params,
} as const;
const shownAnswer = { status: 200, description: 'The page', mediaType: 'text/html' } as const;
const closedAnswers = [
  { status: 404, description: 'A page: no such request, or a wrong link; the two are not told apart', mediaType: 'text/html' },
  { status: 429, description: 'A page: too many wrong links were tried', mediaType: 'text/html' },
] as const;

/** Steps before the one that asked whose calls are shown. */
const STEPS_BACK = 10;

/** Shows and changes nothing, however often: mail scanners open every link (design 5.3). */
export const showApprovalPage: Route = {
  ...shared,
  method: 'get',
  id: 'approvalPage',
  summary: 'The approval page, by the link of a notice (`?t=`) or for a person who has signed in. Only shows.',
  query: z.object({ t: z.string().optional().describe('Token of the link') }),
  answers: [shownAnswer, ...closedAnswers],
  async respond(call) {
    const visit = await open(call, new URL(call.request.url).searchParams.get('t') ?? undefined);
    return visit instanceof Response ? visit : answer(200, approvalPage(await pageOf(call, visit)));
  },
};

export const decideOnPage: Route = {
  ...shared,
  method: 'post',
  id: 'decideOnApprovalPage',
  summary: 'The form of the approval page',
  answers: [
    { status: 303, description: 'Decided; the page shows it' },
    { status: 200, description: 'Decided, and others wait: the page with what was typed for them', mediaType: 'text/html' },
    { status: 400, description: 'The page, with what is wrong', mediaType: 'text/html' },
    { status: 403, description: 'A page: this visitor may only look, or the form is not ours', mediaType: 'text/html' },
    { status: 409, description: 'The page: decided otherwise already', mediaType: 'text/html' },
    { status: 410, description: 'The page: the time to decide is over', mediaType: 'text/html' },
    { status: 413, description: 'A page: too large', mediaType: 'text/html' },
    { status: 415, description: 'A page: not a form', mediaType: 'text/html' },
    ...closedAnswers,
  ],
  async respond(call) {
    const form = await readForm(call);
    if (form instanceof Response) return form;
    const visit = await open(call, form.token);
    if (visit instanceof Response) return visit;
    if (!isOwnForm(call.request, visit))
      return answer(403, plainPage('That form is not ours', html`Open the page again and decide there.`));
    return decide(call, visit, form);
  },
};

async function decide(call: Call, visit: Visit, form: ApprovalForm): Promise<Response> {
  if (visit.may !== 'decide') return answer(403, approvalPage(await pageOf(call, visit)));
  const { services } = call;
  const { tenant } = visit.suspension;
  const asked = decisionsOf(form, approvalViews(visit.suspension, services.clock.now()), services.tools());
  if ('problem' in asked) return answer(400, approvalPage(await pageOf(call, visit, form, asked.problem)));
  try {
    await decideAudited(services, { tenant, principal: visit.by, how: 'page', decisions: asked.decisions });
  } catch (error) {
    if (!(error instanceof HandrailError) || CODES[error.code].status >= 500) throw error;
    const fresh = await reread(call, visit);
    return answer(CODES[error.code].status, approvalPage(await pageOf(call, fresh, form, problemOf(error, form))));
  }
  const fresh = await reread(call, visit);
  // Others are still open: what was typed for them must not be lost by going to the page anew.
  const open = Object.values(fresh.suspension.approvals).filter(({ status }) => status === 'pending');
  if (open.some(({ callId }) => (['reason', 'answer', 'arguments'] as const).some((field) => form.text(field, callId))))
    return answer(200, approvalPage(await pageOf(call, fresh, form)));
  const { suspensionId } = fresh.suspension;
  return empty(303, { location: `/a/${suspensionId}${visit.token === undefined ? '' : `?t=${encodeURIComponent(visit.token)}`}` });
}

/** Somebody who may see a suspension, and as whom they decide. */
interface Visit {
  readonly suspension: Suspension;
  readonly by: string;
  readonly may: ApprovalPage['may'];
  /** They came by a link. */
  readonly token: string | undefined;
}

/** Who has signed in and may see it comes in as themselves; else the link decides. All others get the same 404. */
async function open(call: Call, token: string | undefined): Promise<Visit | Response> {
  const { services } = call;
  const id = params.safeParse(call.params);
  if (!id.success) return notFoundPage();
  const { suspensionId } = id.data;
  const principal = signedIn(call);
  if (principal?.permissions.has('approve') || (principal?.permissions.has('read') && token === undefined)) {
    const suspension = await services.guard.getSuspension(suspensionId);
    if (suspension?.tenant === principal.tenant)
      return { suspension, by: principal.principal, may: principal.permissions.has('approve') ? 'decide' : 'look: no permission', token };
  }
  if (token === undefined) return notFoundPage();
  const checked = await services.checkLink(suspensionId, token);
  switch (checked.state) {
    case 'wrong':
      return notFoundPage();
    case 'locked':
      return lockedPage(checked.retryAfterMs);
    case 'open': {
      const suspension = await services.guard.getSuspension(suspensionId);
      if (suspension === undefined) return notFoundPage();
      return { suspension, by: checked.by, may: services.linksDecide ? 'decide' : 'look: sign in', token };
    }
  }
}

async function reread(call: Call, visit: Visit): Promise<Visit> {
  return { ...visit, suspension: (await call.services.guard.getSuspension(visit.suspension.suspensionId)) ?? visit.suspension };
}

async function pageOf(call: Call, visit: Visit, form?: ApprovalForm, problem?: FormProblem): Promise<ApprovalPage> {
  const { services } = call;
  const { suspension, may, token } = visit;
  const now = services.clock.now();
  const { tenant, runId, suspensionId } = suspension;
  const step = Number(suspensionId.slice(suspensionId.lastIndexOf('-') + 1));
  const approvals = approvalViews(suspension, now);
  const run = await services.runs.getRun({ tenant, runId });
  const waits = approvals.some(({ status }) => status === 'pending');
  const events = waits ? await services.runs.readEvents({ tenant, runId }, Math.max(0, step - STEPS_BACK)) : [];
  return {
    ...{ suspensionId, approvals, run, now, may, token, form, problem },
    signIn: call.auth.console.signIn,
    origin: new URL(call.request.url).origin,
    events: events.filter((event) => event.step <= step),
  };
}

function signedIn({ auth, request, env }: Call): Principal | undefined {
  try {
    return auth.authenticate(request, env);
  } catch (error) {
    if (error instanceof HttpError && error.status < 500) return undefined;
    throw error;
  }
}

/**
 * Against forms of other pages. Our pages send no referrer, so browsers send `Origin: null` with their forms, and where
 * the form came from is told by Sec-Fetch-Site. What tells nothing is let in by the token of the link alone, which no
 * other page knows; a cookie would be sent for anybody.
 */
function isOwnForm(request: Request, visit: Visit): boolean {
  const site = request.headers.get('sec-fetch-site');
  if (site !== null) return site === 'same-origin' || site === 'none';
  const origin = request.headers.get('origin');
  if (origin !== null && origin !== 'null') return origin === new URL(request.url).origin;
  return visit.token !== undefined || request.headers.has('authorization');
}

async function readForm(call: Call): Promise<ApprovalForm | Response> {
  try {
    return approvalForm(await readFormBody(call.request));
  } catch (error) {
    if (!(error instanceof HttpError) || error.status >= 500) throw error;
    return answer(error.status, plainPage('That could not be read', html`Nothing was decided: ${error.message}.`), error.headers);
  }
}

/** The use case names fields as a request of the API has them; the form has one call, or all. */
function problemOf(error: HandrailError, form: ApprovalForm): FormProblem {
  const [, callId = 'all'] = form.action.split(':');
  const field = (['arguments', 'reason', 'answer'] as const).find((name) => error.field?.split('/').includes(name));
  return { callId, field, message: `${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}.` };
}

const answer = (status: number, text: string, headers: ExtraHeaders = {}): Response =>
  page(status, text, { 'content-security-policy': PAGE_POLICY, ...headers });

function notFoundPage(): Response {
  const ways = html`You can also decide in the console, or with <code>handrail approvals</code>.`;
  return answer(404, plainPage('This link opens nothing', html`It may have been cut off on its way, or be too old.`, ways));
}

function lockedPage(retryAfterMs: number): Response {
  const minutes = Math.max(1, Math.ceil(retryAfterMs / 60_000));
  const text = html`Too many wrong links to this request were tried. Try yours again in ${countText(minutes, 'minute')}.`;
  return answer(429, plainPage('Locked for a while', text), { 'retry-after': String(Math.ceil(retryAfterMs / 1000)) });
}
