import * as z from 'zod';
import { callIdSchema } from '../ids.ts';
import { usageSchema } from './usage.ts';

/**
 * A call of the open batch. Its arguments stand in the transcript.
 * `blocked` waits for a decision of the guard or a person; `ready` may be dispatched; `waiting` wants a permit;
 * `inflight` was dispatched by the committed plan; `done` has its observation.
 */
export const openCallSchema = z.object({
  callId: callIdSchema,
  tool: z.string(),
  category: z.string(),
  state: z.enum(['blocked', 'ready', 'waiting', 'inflight', 'done']),
  /** Hash of run, call, tool, arguments: what an approval is bound to. */
  hash: z.string(),
  /** The stage it belongs to; stages run in order. */
  stage: z.int().min(0),
  /** It has been counted by the rate limit. */
  counted: z.boolean(),
  /** A person's decision, as committed by the woken step. */
  decision: z.object({ decision: z.enum(['approve', 'edit']), hash: z.string(), by: z.string() }).optional(),
  /** ms since 1970 when it began to wait for a permit. */
  waitingSince: z.number().optional(),
  /** ms since 1970 when it was dispatched. */
  startedAt: z.number().optional(),
  /** Attempt whose lease it holds. */
  attempt: z.string().optional(),
});
export type OpenCall = z.infer<typeof openCallSchema>;

export const batchSchema = z.object({ runSeq: z.int(), step: z.int(), calls: z.array(openCallSchema) });
export type Batch = z.infer<typeof batchSchema>;

/** Equal results in a row for one tool and arguments (design 6.4). */
export const repeatSchema = z.object({ call: z.string(), result: z.string(), count: z.int(), refused: z.boolean() });
export type Repeat = z.infer<typeof repeatSchema>;

const frameBase = {
  /** `main`, or `skill_runtime.<name>_<path>_<callId>` (design 3.6). */
  namespace: z.string(),
  /** The call of the frame below that this one answers. */
  callId: callIdSchema.optional(),
  /** Counted in this frame and in every frame above it. */
  iterations: z.int(),
  toolCalls: z.int(),
  usage: usageSchema,
};

/** Who decides in a run. Trees join this union. */
export const frameSchema = z.discriminatedUnion('kind', [
  z.object({
    ...frameBase,
    kind: z.literal('agent'),
    agent: z.string(),
    /** Key prefix of the messages of this frame's last commit; readers follow `prev` from here. */
    head: z.string().optional(),
    batch: batchSchema.optional(),
    repeats: z.array(repeatSchema),
  }),
]);
export type Frame = z.infer<typeof frameSchema>;
export type AgentFrame = Extract<Frame, { kind: 'agent' }>;

export const MAIN = 'main';
