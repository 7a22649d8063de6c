import * as z from 'zod';
import { callSchema } from '../hands/call.ts';
import { callIdSchema, ctxSchema, suspensionIdSchema } from '../ids.ts';
import { jsonSchema } from '../json.ts';

/**
 * What a step decided: committed with the run, so that a repeated `reason` returns it without asking the LLM again.
 * No arguments: they stand in the transcript (design 3.2).
 */
export const planSchema = z.discriminatedUnion('next', [
  /** Another pass at once: everything the LLM asked for was answered without running. */
  z.object({ next: z.literal('reason') }),
  z.object({ next: z.literal('act'), calls: z.array(callIdSchema).min(1) }),
  z.object({ next: z.literal('suspend'), suspensionId: suspensionIdSchema }),
  z.object({ next: z.literal('wait'), seconds: z.int().positive() }),
  z.object({ next: z.literal('continue'), name: z.string() }),
  z.object({ next: z.literal('finish') }),
]);
export type Plan = z.infer<typeof planSchema>;

/** What `reason` is invoked with (design 3.1). Beyond `ctx` nothing here is believed. */
export const reasonEventSchema = z.object({
  data: z.object({
    ctx: ctxSchema,
    recover: z.boolean().optional(),
    /** Results of the Act map, in the arguments' place; checked one by one against the committed plan. */
    calls: z.array(jsonSchema).optional(),
    woke: jsonSchema.optional(),
  }),
  execution: z.string(),
});
export type ReasonEvent = z.infer<typeof reasonEventSchema>;

/** What `reason` answers: the whole state data of the machine. `ctx.step` is the committed step. */
export const reasonOutputSchema = z.object({
  ctx: ctxSchema,
  next: z.enum(['reason', 'act', 'suspend', 'wait', 'continue', 'finish']),
  calls: z.array(callSchema).optional(),
  seconds: z.int().optional(),
  name: z.string().optional(),
});
export type ReasonOutput = z.infer<typeof reasonOutputSchema>;

/** What the suspend λ is invoked with (design 3.1). */
export const suspendEventSchema = z.object({ ctx: ctxSchema, token: z.string().min(1).max(2048), execution: z.string() });
export type SuspendEvent = z.infer<typeof suspendEventSchema>;
