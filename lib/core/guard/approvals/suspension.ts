import * as z from 'zod';
import { callIdSchema, runIdSchema, sessionIdSchema, suspensionIdSchema, tenantSchema } from '../../ids.ts';
import { jsonObjectSchema } from '../../json.ts';

export const approvalStatuses = ['pending', 'approved', 'edited', 'rejected', 'answered', 'expired', 'cancelled'] as const;
export type ApprovalStatus = (typeof approvalStatuses)[number];

/** Who decided, when, from where, and what. */
export const approvalDecisionSchema = z.object({
  by: z.string(),
  at: z.number(),
  how: z.string().describe("`api`, `page`, `sweep`, `cancel`, or `cli`, which is the client's own word"),
  reason: z.string().optional(),
  /** An edit: what runs instead. */
  arguments: jsonObjectSchema.optional(),
  answer: z.string().optional(),
});
export type ApprovalDecision = z.infer<typeof approvalDecisionSchema>;

export const approvalSchema = z.object({
  callId: callIdSchema,
  kind: z.enum(['tool', 'node', 'question']),
  tool: z.string(),
  /** Shown to the person. What runs is read from the transcript and must have the same `hash`. */
  arguments: jsonObjectSchema,
  /** `arguments` was too large to be kept here whole. */
  argumentsCut: z.boolean(),
  /** The rule that asked. */
  reason: z.string(),
  hash: z.string(),
  status: z.enum(approvalStatuses),
  requestedAt: z.number(),
  expiresAt: z.number(),
  decision: approvalDecisionSchema.optional(),
});
export type Approval = z.infer<typeof approvalSchema>;

/** A link that was sent to people: the token itself is nowhere, only this digest of it (see `link.ts`). */
export const linkSchema = z.object({ hash: z.string(), expiresAt: z.number() });
export type Link = z.infer<typeof linkSchema>;

/** Links of one suspension: a notice that may have got lost is sent again with another. */
export const MAX_LINKS = 5;

/** One stop of a run for people: `SUS#<runId>-<step>` (design 5.3). */
export const suspensionSchema = z.object({
  v: z.literal(1),
  suspensionId: suspensionIdSchema,
  tenant: tenantSchema,
  runId: runIdSchema,
  sessionId: sessionIdSchema,
  /** Principal of the run, who may not approve where `self_approve` is false. */
  principal: z.string(),
  createdAt: z.number(),
  /** By call id. */
  approvals: z.record(z.string(), approvalSchema),
  /** Task tokens: a retried Suspend makes another. `execution` is the name it came from. */
  tokens: z.array(z.object({ token: z.string(), execution: z.string(), at: z.number() })),
  /** Absent on items from before there were any. */
  links: z.array(linkSchema).optional(),
  /** People have been told, by every channel there is. */
  notifiedAt: z.number().optional(),
  /** Every token has been answered, or the run has moved on. */
  deliveredAt: z.number().optional(),
  /** The woken step has taken the decisions (seed 003, ack_result). */
  ackedAt: z.number().optional(),
  /** When sweep looks at it next. */
  dueAt: z.number().optional(),
  /** Epoch seconds after which the table may drop it. Never compared: expiry is `expiresAt`. */
  ttl: z.number().optional(),
});
export type Suspension = z.infer<typeof suspensionSchema>;

export const pendingCalls = (suspension: Suspension): string[] =>
  Object.values(suspension.approvals)
    .filter((approval) => approval.status === 'pending')
    .map((approval) => approval.callId);

/**
 * Every change of a suspension: one conditional update that returns the whole new item. What each needs and does besides
 * the obvious:
 * - `decide`: each named approval must be pending and `expiresAt > now`, else nothing is changed.
 * - `expire`: likewise pending and `expiresAt <= now`; decision `{ by: 'handrail', at: now, how: 'sweep' }`.
 * - `cancel`: likewise pending; decision `{ by, at: now, how: 'cancel' }`.
 * - These three leave it due at once (`dueAt = now`) when nothing is pending any more, so that sweep delivers what its
 *   writer could not; else due at the next `expiresAt`.
 * - `token`: adds one; the same token again is no other. Independent of `deliveredAt`.
 * - `link`: adds one while `notifiedAt` is absent and there are fewer than `MAX_LINKS`; the same link again is no other.
 * - `delivered`, `ack`: set once, and `dueAt` goes. `due`: only while neither has happened.
 */
export type SuspensionChange =
  | {
      kind: 'decide';
      now: number;
      decisions: { callId: string; status: 'approved' | 'edited' | 'rejected' | 'answered'; decision: ApprovalDecision }[];
    }
  | { kind: 'expire'; now: number; callIds: string[] }
  | { kind: 'cancel'; now: number; callIds: string[]; by: string }
  | { kind: 'token'; token: string; execution: string; now: number }
  | { kind: 'link'; link: Link }
  | { kind: 'notified'; now: number }
  | { kind: 'delivered'; now: number }
  | { kind: 'due'; dueAt: number }
  /** ack and prune in one: after the woken step is committed, the item only waits for its TTL (epoch seconds). */
  | { kind: 'ack'; now: number; ttl: number };
