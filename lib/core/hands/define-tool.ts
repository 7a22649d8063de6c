import * as z from 'zod';
import { toolNameSchema } from '../ids.ts';
import { type Json, jsonObjectSchema } from '../json.ts';

/** What a tool may touch: a promise made at registration and checked again at each call (seed 004 section 1.1). */
export const permissionsSchema = z.strictObject({
  filesystem: z.strictObject({ read: z.array(z.string()).optional(), write: z.array(z.string()).optional() }).optional(),
  network: z.strictObject({ allowedDomains: z.array(z.string()).optional(), allowedPorts: z.array(z.int()).optional() }).optional(),
  execution: z.strictObject({ allowedCommands: z.array(z.string()).optional() }).optional(),
});
export type Permissions = z.infer<typeof permissionsSchema>;

/** A label of a tool's side effect, counted per run for successful calls. */
export const effectTagSchema = z.string().regex(/^[a-z]+\.[a-z_]+$/);

export const toolDefinitionSchema = z.strictObject({
  name: toolNameSchema,
  /** For the LLM: what it does, when to use it, what comes back. */
  description: z.string().min(1),
  /** JSON Schema of the arguments; its `type` is `object`. Unknown arguments are refused unless it says otherwise. */
  parameters: jsonObjectSchema,
  category: z.string().min(1),
  permissions: permissionsSchema.default({}),
  /** Else the category's. Clamped to 1000–120000 ms. */
  timeoutMs: z.int().positive().optional(),
  maxConcurrency: z.int().positive().optional(),
  /** 0 = never. Only idempotent tools are retried at all (design 3.4). */
  retry: z
    .strictObject({ maxRetries: z.union([z.literal(0), z.literal(1), z.literal(2), z.literal(3), z.literal(5)]) })
    .default({ maxRetries: 2 }),
  /** May run beside other calls of its batch. */
  parallelSafe: z.boolean().default(false),
  /** May run twice for one call without harm. */
  idempotent: z.boolean().default(false),
  effectTags: z.array(effectTagSchema).default([]),
  aliases: z.array(toolNameSchema).default([]),
  /** Tools whose results it builds on: it runs in a later stage and is given them as `previousResults`. */
  after: z.array(toolNameSchema).default([]),
  /** What comes back, errors too, may be what strangers wrote; the prompt marks it (design 6.2). `defineTool` knows it by the tags. */
  untrusted: z.boolean().default(false),
});
export type ToolDefinition = z.infer<typeof toolDefinitionSchema>;
export type ToolDefinitionInput = z.input<typeof toolDefinitionSchema>;

/** Tags of tools that bring in what others wrote: files, memory and scripts may hold what was fetched before. */
const BRINGS_IN = /\.read$|^net\.|^code\.exec$/;

/**
 * A tool's definition, checked, with defaults filled in; `untrusted` follows from the effect tags unless it is said. Throws a
 * ZodError that names the field. Seed 004 section 1.1.
 */
export function defineTool(definition: ToolDefinitionInput): ToolDefinition {
  const parsed = toolDefinitionSchema.parse(definition);
  return Object.freeze({ ...parsed, untrusted: definition.untrusted ?? parsed.effectTags.some((tag) => BRINGS_IN.test(tag)) });
}

/** What the LLM is shown of a tool: no handler, no permissions (seed 004 section 1.4). */
export interface ToolForModel {
  readonly name: string;
  readonly description: string;
  readonly parameters: { readonly [key: string]: Json };
}
