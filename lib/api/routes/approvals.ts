import * as z from 'zod';
import { CODES, codes, HandrailError } from '../../core/errors.ts';
import { approvalStatuses } from '../../core/guard/approvals/suspension.ts';
import { approvalIdSchema, parseApprovalId } from '../../core/ids.ts';
import { jsonObjectSchema } from '../../core/json.ts';
import { decideAudited } from '../decide.ts';
import { nextCursorSchema, pagingShape } from '../paging.ts';
import type { Principal } from '../principal.ts';
import { defineRoute, notFound } from '../route.ts';
import { schemaNames } from '../schema-names.ts';
import type { ApiServices, DecideRequest, DecisionRequest } from '../services.ts';
import { unmask } from '../unmask.ts';
import { type ApprovalView, approvalViewSchema, approvalViews, maskedApproval } from '../views/approval-view.ts';

const approvalParams = z.strictObject({ approvalId: approvalIdSchema });
const reason = z.string().max(4000).optional();
const approve = z.strictObject({
  decision: z.literal('approve'),
  reason,
  arguments: jsonObjectSchema.optional().describe('What is to run instead of what was asked; what the tool would refuse is refused here'),
});
const reject = z.strictObject({ decision: z.literal('reject'), reason });
const answer = z.strictObject({ decision: z.literal('answer'), answer: z.string().max(100_000), reason });

const decisionBody = z.discriminatedUnion('decision', [approve, reject, answer]).register(schemaNames, { id: 'Decision' });
const named = { approvalId: approvalIdSchema };
const decisionsBody = z
  .strictObject({
    decisions: z
      .array(z.discriminatedUnion('decision', [approve.extend(named), reject.extend(named), answer.extend(named)]))
      .min(1)
      .max(128),
  })
  .register(schemaNames, { id: 'Decisions' });

const refusedSchema = z
  .object({ approvalId: approvalIdSchema, code: z.enum(codes), detail: z.string(), field: z.string().optional() })
  .register(schemaNames, { id: 'RefusedDecision' });
const decidedSchema = z
  .object({
    approvals: z.array(approvalViewSchema).describe('As they stand now, in the order asked'),
    refused: z.array(refusedSchema).describe('Decisions that were not taken, and why'),
  })
  .register(schemaNames, { id: 'DecidedApprovals' });
const approvalListSchema = z
  .object({ approvals: z.array(approvalViewSchema), cursor: nextCursorSchema })
  .register(schemaNames, { id: 'ApprovalList' });
const decideErrors = ['ALREADY_DECIDED', 'EXPIRED', 'INVALID_ARGUMENTS'] as const;

export const listApprovals = defineRoute({
  method: 'get',
  path: '/approvals',
  id: 'listApprovals',
  summary: 'Decisions that people are asked for, newest first',
  access: 'read',
  query: z.strictObject({ ...pagingShape, status: z.enum([...approvalStatuses, 'all']).default('pending') }),
  answer: { status: 200, description: 'Approvals of that status', schema: approvalListSchema },
  async handle({ principal, query }, services) {
    const { status, limit, cursor } = query;
    const found = await services.guard.listSuspensions(principal.tenant, {
      pending: status === 'pending',
      limit,
      ...(cursor === undefined ? {} : { cursor }),
    });
    const approvals = found.items
      .filter((suspension) => suspension.tenant === principal.tenant)
      .flatMap((suspension) => approvalViews(suspension, services.clock.now()))
      .filter((approval) => status === 'all' || approval.status === status)
      .map(maskedApproval);
    return { approvals, ...(found.cursor === undefined ? {} : { cursor: found.cursor }) };
  },
});

export const getApproval = defineRoute({
  method: 'get',
  path: '/approvals/{approvalId}',
  id: 'getApproval',
  summary: 'One approval',
  access: 'read',
  params: approvalParams,
  answer: { status: 200, description: 'The approval', schema: approvalViewSchema },
  handle: async ({ principal, params }, services) => maskedApproval(await ownApproval(principal, params.approvalId, services)),
});

export const decideApproval = defineRoute({
  method: 'post',
  path: '/approvals/{approvalId}',
  id: 'decideApproval',
  summary: 'Decide one approval',
  access: 'approve',
  params: approvalParams,
  body: decisionBody,
  answer: { status: 200, description: 'As it stands now; the same decision again changes nothing', schema: approvalViewSchema },
  errors: decideErrors,
  async handle({ principal, how, params, body }, services) {
    const { approvalId } = params;
    const asked = await ownApproval(principal, approvalId, services);
    await decideAudited(services, { ...callerOf(principal), how, decisions: [unmasked({ approvalId, ...body }, asked)] });
    return maskedApproval(await ownApproval(principal, approvalId, services));
  },
});

export const decideApprovals = defineRoute({
  method: 'post',
  path: '/approvals',
  id: 'decideApprovals',
  summary: 'Decide several approvals at once: those of one suspension together or not at all, each suspension on its own',
  access: 'approve',
  body: decisionsBody,
  answer: { status: 200, description: 'As they stand now; of one suspension only, a refusal is the answer', schema: decidedSchema },
  errors: decideErrors,
  async handle({ principal, how, body: { decisions } }, services) {
    const ids = decisions.map(({ approvalId }) => approvalId);
    // Every approval must be the caller's before any is decided, so that an answer tells nothing of others' ids.
    const asked = await ownApprovals(principal, ids, services);
    const whole = decisions.map((decision, index) => unmasked(decision, asked[index]));
    const refused = await decideEach({ ...callerOf(principal), how }, whole, services);
    return { approvals: (await ownApprovals(principal, ids, services)).map(maskedApproval), refused };
  },
});

const callerOf = ({ tenant, principal }: Principal) => ({ tenant, principal });

/** An edit was made of arguments whose secrets were masked. */
function unmasked(decision: DecisionRequest, asked: ApprovalView | undefined): DecisionRequest {
  if (asked === undefined || !('arguments' in decision) || decision.arguments === undefined) return decision;
  const wrong = (message: string) => new HandrailError('BAD_REQUEST', message, { field: 'arguments' });
  return { ...decision, arguments: jsonObjectSchema.parse(unmask(decision.arguments, asked.arguments, wrong)) };
}

type Refused = z.infer<typeof refusedSchema>;

/** A refusal in one suspension does not keep the decisions of another from being taken. */
async function decideEach(
  caller: Omit<DecideRequest, 'decisions'>,
  decisions: readonly DecisionRequest[],
  services: ApiServices,
): Promise<Refused[]> {
  const groups = [...Map.groupBy(decisions, ({ approvalId }) => parseApprovalId(approvalId)?.suspensionId).values()];
  const refused: Refused[] = [];
  for (const group of groups) {
    try {
      await decideAudited(services, { ...caller, decisions: group });
    } catch (error) {
      if (groups.length === 1 || !(error instanceof HandrailError) || CODES[error.code].status >= 500) throw error;
      const why = { code: error.code, detail: error.message, ...(error.field === undefined ? {} : { field: error.field }) };
      refused.push(...group.map(({ approvalId }) => ({ approvalId, ...why })));
    }
  }
  return refused;
}

async function ownApproval(principal: Principal, approvalId: string, services: ApiServices): Promise<ApprovalView> {
  const [approval] = await ownApprovals(principal, [approvalId], services);
  if (approval === undefined) throw notFound();
  return approval;
}

/** In the order of `ids`; each suspension is read once. */
async function ownApprovals(principal: Principal, ids: readonly string[], services: ApiServices): Promise<ApprovalView[]> {
  const suspensionIds = new Set(ids.map((id) => parseApprovalId(id)?.suspensionId ?? ''));
  const suspensions = await Promise.all([...suspensionIds].map((id) => services.guard.getSuspension(id)));
  const own = suspensions.filter((suspension) => suspension !== undefined).filter((suspension) => suspension.tenant === principal.tenant);
  const views = new Map(
    own.flatMap((suspension) => approvalViews(suspension, services.clock.now())).map((view) => [view.approvalId, view]),
  );
  return ids.map((id) => {
    const view = views.get(id);
    if (view === undefined) throw notFound();
    return view;
  });
}
