import * as z from 'zod';
import { mergedConstraintsSchema } from '../guard/constraints.ts';
import { callIdSchema } from '../ids.ts';
import { jsonSchema } from '../json.ts';
import { treeStateSchema } from '../trees/state.ts';
import { storedValueSchema } from './stored-value.ts';
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
  /** In a tree: the node that it carries out. */
  path: z.string().optional(),
  /** An approval over its node has been given: it stands for the tool policy's `confirm` (design 8). */
  covered: z.boolean().optional(),
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
  /** The node of the tree below that this one answers. */
  path: z.string().optional(),
  /** Counted in this frame and in every frame below it. */
  iterations: z.int(),
  toolCalls: z.int(),
  usage: usageSchema,
  /** Active ms of the run when it was pushed: a timeout of its own counts from there. Absent in the root frame, whose timeout is the run's. */
  since: z.number().optional(),
  /** Absent: the run's. They only tighten. Of the root frame they hold for the whole run: skills that it loaded. */
  constraints: mergedConstraintsSchema.optional(),
  /** Key prefix of the messages of this frame's last commit; readers follow `prev` from here. */
  head: z.string().optional(),
  /** It has read in this run what strangers wrote: what comes of it may repeat that. */
  untrusted: z.boolean().optional(),
  batch: batchSchema.optional(),
};

/** Strangers wrote the value, or some of it. */
const untrustedValue = { untrusted: z.boolean().optional() };

/**
 * A value of a blackboard: in the frame where it is small, else the newest `value` message of the frame with its key, or where
 * `at` says: inputs of a run, which are there before the frame has any messages. `stored` is its size, bytes.
 */
export const blackboardEntrySchema = z.union([
  z.object({ value: jsonSchema, ...untrustedValue }),
  storedValueSchema.partial({ at: true }).extend(untrustedValue),
]);

/** Who decides in a run. */
export const frameSchema = z.discriminatedUnion('kind', [
  z.object({
    ...frameBase,
    kind: z.literal('agent'),
    agent: z.string(),
    /** What it is asked; absent: the run's input. */
    task: z.string().optional(),
    /** Skills chosen for it, with those they require (design section 7). */
    skills: z.array(z.string()).optional(),
    repeats: z.array(repeatSchema),
  }),
  z.object({
    ...frameBase,
    kind: z.literal('tree'),
    /** Name of the skill whose tree it is. */
    skill: z.string(),
    /** Progress of the nodes, by path. */
    state: treeStateSchema,
    /** By key; `stored` is the size of a value that is kept as a message, bytes. */
    blackboard: z.record(z.string(), blackboardEntrySchema),
  }),
]);
export type Frame = z.infer<typeof frameSchema>;
export type AgentFrame = Extract<Frame, { kind: 'agent' }>;
export type TreeFrame = Extract<Frame, { kind: 'tree' }>;
