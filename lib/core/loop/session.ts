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
