import * as z from 'zod';
import { codes } from '../errors.ts';
import { mergedConstraintsSchema } from '../guard/constraints.ts';
import { runIdSchema, sessionIdSchema, tenantSchema } from '../ids.ts';
import { jsonObjectSchema, jsonSchema } from '../json.ts';
import { eventSchema } from './event.ts';
import { frameSchema } from './frames.ts';
import { planSchema } from './plan.ts';
import { type RunStatus, runStatuses } from './run-status.ts';
import { storedValueSchema } from './stored-value.ts';
import { usageSchema } from './usage.ts';
import { workSchema } from './work.ts';

/** How a run ended, and the status that goes with it (design section 9). */
export const OUTCOMES = {
  completed: 'succeeded',
  cancelled: 'cancelled',
  error: 'failed',
  iteration_limit: 'limited',
  budget_exceeded: 'limited',
  loop: 'limited',
  timeout: 'limited',
} as const satisfies Record<string, RunStatus>;
export type Outcome = keyof typeof OUTCOMES;
export const outcomes = Object.keys(OUTCOMES) as [Outcome, ...Outcome[]];

/** Set once, when the run is created; never sent again. */
const runOriginShape = {
  v: z.literal(1),
  tenant: tenantSchema,
  runId: runIdSchema,
  sessionId: sessionIdSchema,
  agent: z.string(),
  input: z.string(),
  /** Who asked for it: the authenticated principal. */
  principal: z.string(),
  /** Digest of the request body, to tell a repeated `idempotencyKey` from a misused one. */
  requestHash: z.string(),
  createdAt: z.number(),
  constraints: mergedConstraintsSchema,
};

/** What every commit writes. */
const runProgressShape = {
  status: z.enum(runStatuses),
  /** Number of the run in its session, counted when it took `activeRun`; 0 while `starting`. */
  runSeq: z.int(),
  /** Last committed step; 0 before the first. */
  step: z.int(),
  /** Random id of the invocation that committed it. */
  attempt: z.string(),
  /** Number of the current execution: its name is `<runId>-<execution>`. */
  execution: z.int(),
  /** Worst-case history events of the current execution so far (design 3.5). */
  historyEvents: z.int(),
  plan: planSchema.optional(),
  frames: z.array(frameSchema).min(1),
  /** State of the checkers, by name (design 5.1). */
  guard: z.record(z.string(), jsonObjectSchema),
  usage: usageSchema,
  /** Effect tag → successful calls. */
  effects: z.record(z.string(), z.int()),
  /** Changes to the session's shared state, merged into it when the run ends. */
  stateChanges: z.record(z.string(), jsonSchema),
  /** Those whose values are items of their own; absent: none. */
  storedChanges: z.record(z.string(), storedValueSchema).optional(),
  /** ms the run was active: time between commits, but none spent suspended (design 5.4). */
  activeMs: z.number(),
  /** ms since 1970 after which no new work is begun; undefined while suspended. */
  deadline: z.number().optional(),
  timings: z.object({ modelMs: z.number(), guardMs: z.number(), queueMs: z.number(), toolMs: z.number(), personMs: z.number() }),
  /** Counted for its cost; absent on runs from before it was. */
  work: workSchema.optional(),
  /** Events of this commit. They ride in it and are moved to items of their own by the next one. */
  events: z.array(eventSchema),
  updatedAt: z.number(),
  /** When sweep looks at it next; undefined once it has ended. */
  dueAt: z.number().optional(),
  /** When somebody first asked to cancel, and who; the latter is absent where an earlier version was asked. */
  cancelRequestedAt: z.number().optional(),
  cancelRequestedBy: z.string().optional(),
  outcome: z.enum(outcomes).optional(),
  answer: z.string().optional(),
  error: z.object({ code: z.enum(codes), message: z.string() }).optional(),
  endedAt: z.number().optional(),
};

/** A run as stored: `T#<t>#R#<runId>` / `RUN` (design sections 3.2 and 4). */
export const runSchema = z.object({ ...runOriginShape, ...runProgressShape });
export type Run = z.infer<typeof runSchema>;

/** Attributes that a commit sets; the others never change after creation. What `requestCancel` sets, nobody else does. */
export const PROGRESS_KEYS = (Object.keys(runProgressShape) as (keyof typeof runProgressShape)[]).filter(
  (key) => key !== 'cancelRequestedAt' && key !== 'cancelRequestedBy',
);
