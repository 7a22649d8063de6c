import * as z from 'zod';
import { codes } from '../errors.ts';

const resultErrorSchema = z.object({
  code: z.enum(codes),
  message: z.string(),
  /** True when the same call may succeed if the LLM repeats it. */
  recoverable: z.boolean(),
  suggestions: z.array(z.string()).optional(),
});

/** What a tool call came to. Seed 004 sections 3.5 and 5.4; the limits of `data` are in `process`. */
export const toolResultSchema = z.object({
  success: z.boolean(),
  data: z.string().optional(),
  error: resultErrorSchema.optional(),
  /** What failed of a call that did several things. */
  partialFailure: z.array(z.object({ name: z.string(), error: z.string() })).optional(),
  metadata: z.object({
    toolName: z.string(),
    /** ms the handler ran. */
    duration: z.number(),
    truncated: z.boolean(),
    /** ms since 1970 at the end. */
    timestamp: z.number(),
  }),
});
export type ToolResult = z.infer<typeof toolResultSchema>;
