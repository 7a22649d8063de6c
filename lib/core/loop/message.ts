import * as z from 'zod';
import { toolResultSchema } from '../hands/result.ts';
import { callIdSchema } from '../ids.ts';
import { jsonObjectSchema, jsonSchema } from '../json.ts';

/** Name of the pseudo call that stands for a tree's approval in a batch: no tool, and never shown to an LLM. */
export const APPROVE_NODE = 'approve_node';

/** One tool call as the transcript keeps it. */
export const assistantCallSchema = z.object({
  callId: callIdSchema,
  /** The registered name, or what the LLM wrote when no such tool exists. */
  tool: z.string(),
  /** What runs and what is hashed; `{}` when the text could not be read as an object. */
  arguments: jsonObjectSchema,
  /** The LLM's own text, kept for audit when it had to be repaired or was refused (cut to 2 KB). */
  raw: z.string().optional(),
  /** The provider's id, kept for audit only: it is never a key. */
  providerId: z.string().optional(),
});
export type AssistantCall = z.infer<typeof assistantCallSchema>;

/**
 * The transcript. `seq` and `step` of the commit that wrote a message come from its key.
 * `edit`: a person changed the arguments of a call before it ran; later readers use these.
 */
export const messageSchema = z.discriminatedUnion('role', [
  z.object({ role: z.literal('user'), text: z.string() }),
  z.object({
    role: z.literal('assistant'),
    text: z.string(),
    calls: z.array(assistantCallSchema),
    /** No LLM said it: it is the result of a tree, with what strangers wrote in it. */
    untrusted: z.boolean().optional(),
  }),
  /** `untrusted`: its text may be that of strangers; what we say ourselves of a call is not. */
  z.object({ role: z.literal('observation'), callId: callIdSchema, tool: z.string(), result: toolResultSchema, untrusted: z.boolean() }),
  /** A value of a tree's blackboard that is too large for the frame. */
  z.object({ role: z.literal('value'), key: z.string(), value: jsonSchema }),
  z.object({ role: z.literal('edit'), callId: callIdSchema, arguments: jsonObjectSchema, by: z.string() }),
]);
export type Message = z.infer<typeof messageSchema>;

/** A message where it stands: which run of the session (`runSeq`), which step wrote it, at which place. */
export interface PlacedMessage {
  readonly runSeq: number;
  readonly step: number;
  readonly index: number;
  readonly message: Message;
}
