import * as z from 'zod';
import type { PreviousResult } from '../../core/hands/call.ts';
import { type JsonObject, jsonObjectSchema } from '../../core/json.ts';
import { bytesSchema, skillRequestSchema } from './skill-fetch.ts';

/** What a child asks its parent for: the means that it does not have itself. */
const meansSchema = z.discriminatedUnion('op', [
  z.strictObject({ op: z.literal('fetch'), request: skillRequestSchema }),
  z.strictObject({ op: z.literal('read'), path: z.string() }),
  z.strictObject({
    op: z.literal('write'),
    path: z.string(),
    data: bytesSchema,
    mode: z.enum(['create', 'overwrite', 'append']),
  }),
  z.strictObject({ op: z.literal('list'), path: z.string(), depth: z.int().min(0).max(64), limit: z.int().min(1).max(10_000) }),
  z.strictObject({ op: z.literal('remove'), path: z.string() }),
]);
export type Means = z.output<typeof meansSchema>;

/** Child → parent. Checked: the handler lives in the same process as the code that writes these. */
export const fromChildSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('ask'), id: z.int(), means: meansSchema }),
  z.strictObject({ type: z.literal('cancel'), id: z.int() }),
  z.strictObject({
    type: z.literal('log'),
    level: z.enum(['debug', 'info', 'warn', 'error']),
    message: z.string(),
    fields: jsonObjectSchema,
  }),
  /** `value` is JSON text; absent: nothing was returned. */
  z.strictObject({ type: z.literal('done'), value: z.string().optional() }),
  z.strictObject({ type: z.literal('failed'), code: z.string().optional(), message: z.string() }),
]);
export type FromChild = z.output<typeof fromChildSchema>;

/** Parent → child. `value`: what the means gave. */
export type ToChild =
  | {
      readonly type: 'run';
      /** Absolute path of the handler's module. */
      readonly module: string;
      readonly args: JsonObject;
      readonly callId: string;
      readonly sessionId: string;
      readonly previousResults: readonly PreviousResult[];
      /** Whether `ctx.workspace` is there. */
      readonly files: boolean;
    }
  | { readonly type: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly type: 'refusal'; readonly id: number; readonly code: string; readonly message: string }
  | { readonly type: 'abort'; readonly reason: string };
