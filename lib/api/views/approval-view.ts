import * as z from 'zod';
import { type Approval, approvalDecisionSchema, approvalStatuses, type Suspension } from '../../core/guard/approvals/suspension.ts';
import { approvalIdOf, approvalIdSchema, callIdSchema, runIdSchema, sessionIdSchema } from '../../core/ids.ts';
import { jsonObjectSchema } from '../../core/json.ts';
import { maskAll, maskJson } from '../../core/preview.ts';
import { schemaNames } from '../schema-names.ts';

/** One decision that a person is asked for (design section 9). Times are ms since 1970. */
export const approvalViewSchema = z
  .object({
    approvalId: approvalIdSchema,
    runId: runIdSchema,
    sessionId: sessionIdSchema,
    callId: callIdSchema,
    kind: z.enum(['tool', 'node', 'question']),
    status: z.enum(approvalStatuses),
    tool: z.string(),
    arguments: jsonObjectSchema.describe('Secrets are masked; what is left so in an edit stands for what it was'),
    argumentsCut: z.boolean().describe('The arguments are too large to be shown whole'),
    reason: z.string().describe('The rule that asked'),
    requestedAt: z.number(),
    expiresAt: z.number(),
    decision: approvalDecisionSchema.optional(),
  })
  .register(schemaNames, { id: 'Approval' });
export type ApprovalView = z.infer<typeof approvalViewSchema>;

/** All approvals of a suspension. One whose time is over shows as expired, since nothing else can become of it. */
export function approvalViews(suspension: Suspension, now: number): ApprovalView[] {
  return Object.values(suspension.approvals).map((approval) => view(suspension, approval, now));
}

/** As the API gives it: `read` is no leave to read secrets. Choices stay as they are, since one of them is the answer. */
export function maskedApproval({ arguments: args, decision, ...view }: ApprovalView): ApprovalView {
  const { choices } = args;
  return {
    ...view,
    arguments: view.kind === 'question' && choices !== undefined ? { ...maskJson(args), choices } : maskJson(args),
    ...(decision === undefined ? {} : { decision: maskAll(decision) }),
  };
}

function view(suspension: Suspension, approval: Approval, now: number): ApprovalView {
  const { hash: _bound, status, decision, ...shown } = approval;
  return {
    approvalId: approvalIdOf(suspension.suspensionId, approval.callId),
    runId: suspension.runId,
    sessionId: suspension.sessionId,
    ...shown,
    status: status === 'pending' && approval.expiresAt <= now ? 'expired' : status,
    ...(decision === undefined ? {} : { decision }),
  };
}
