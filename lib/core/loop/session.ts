import * as z from 'zod';
import { runIdSchema, sessionIdSchema, tenantSchema } from '../ids.ts';
import { jsonSchema } from '../json.ts';
import { storedValueSchema } from './stored-value.ts';

/** A conversation: `T#<t>#S#<sid>` / `META` (design section 4). */
export const sessionSchema = z.object({
  v: z.literal(1),
  tenant: tenantSchema,
  sessionId: sessionIdSchema,
  createdAt: z.number(),
  /** The run that holds the session; stale once that run is terminal (unlock is lazy). */
  activeRun: runIdSchema.optional(),
  /** Runs that took it last, newest last: lists show them a moment later (see `recentRunsOf`). */
  recentRuns: z.array(runIdSchema).optional(),
  /** Runs that took the session so far: the `runSeq` of the active one. */
  runSeq: z.int(),
  /** Head of the main frame's messages when the active run took over. */
  head: z.string().optional(),
  /** What its runs had read until then, as tags of the flow checker; absent = nothing. */
  seen: z.array(z.string()).optional(),
  /** It is being deleted with all it left: no run may take it any more. */
  deletingAt: z.number().optional(),
  /** Shared state as of then. */
  state: z.record(z.string(), jsonSchema),
  /** What of it is too large for this item: items of their own. Absent: nothing. */
  stored: z.record(z.string(), storedValueSchema).optional(),
});
export type Session = z.infer<typeof sessionSchema>;

/** More than can take a session, one after the other, before the list of runs shows the first of them. */
const RECENT_RUNS = 20;

/** Runs that a consistent read of the session knows of; of a session from before they were kept, the holder alone. */
export const recentRunsOf = ({ recentRuns, activeRun }: Pick<Session, 'recentRuns' | 'activeRun'>): string[] =>
  recentRuns ?? (activeRun === undefined ? [] : [activeRun]);

/** The same with one more. */
export const withRecentRun = (session: Session | undefined, runId: string): string[] =>
  [...(session ? recentRunsOf(session) : []), runId].slice(-RECENT_RUNS);
