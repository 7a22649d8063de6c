import * as z from 'zod';
import { callIdSchema, runIdSchema, sessionIdSchema, tenantSchema } from '../ids.ts';
import { jsonObjectSchema } from '../json.ts';
import { toolResultSchema } from './result.ts';

/** One result of an earlier call of the same batch, as a later stage is given it (design 6.4). */
export const previousResultSchema = z.object({ callId: callIdSchema, tool: z.string(), result: toolResultSchema });
export type PreviousResult = z.infer<typeof previousResultSchema>;

/** What a tool λ is invoked with: an item of the Act map (design section 4, pinned). */
export const callSchema = z.object({
  callId: callIdSchema,
  tool: z.string(),
  category: z.string(),
  functionName: z.string(),
  arguments: jsonObjectSchema,
  timeoutMs: z.int().positive(),
  idempotent: z.boolean(),
  maxRetries: z.int().min(0),
  /** UTF-8 bytes of JSON-escaped text that the result's `data` may take. */
  resultBudget: z.int().positive(),
  previousResults: z.array(previousResultSchema).optional(),
  tenant: tenantSchema,
  sessionId: sessionIdSchema,
  namespace: z.string(),
  runId: runIdSchema,
});
export type Call = z.infer<typeof callSchema>;

/** What a tool λ answers. */
export const callResultSchema = z.object({ callId: callIdSchema, result: toolResultSchema });
export type CallResult = z.infer<typeof callResultSchema>;

/** What comes back to `reason` for a call whose Lambda failed: the catchers of the Act map (design 3.1). */
export const callFailureSchema = z.object({
  callId: callIdSchema,
  error: z.object({ Error: z.string(), Cause: z.string().optional() }),
});
export type CallFailure = z.infer<typeof callFailureSchema>;
