import * as z from 'zod';

/** Who owns everything below it. Design section 9. */
export const tenantSchema = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'a tenant is 1 to 64 of A-Z a-z 0-9 _ -');
export const sessionIdSchema = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'a session id is 1 to 64 of A-Z a-z 0-9 _ -');
/** `r-` and 26 characters of Crockford's base 32 (design section 4). */
export const runIdSchema = z.string().regex(/^r-[0-9a-hjkmnp-tv-z]{26}$/, 'a run id is r- and 26 characters');
/** `c<step>-<i>`: unique in its run. */
export const callIdSchema = z.string().regex(/^c\d{1,6}-\d{1,3}$/, 'a call id is c<step>-<i>');
/** `<runId>-<step>` of the step that opened it. */
export const suspensionIdSchema = z.string().regex(/^r-[0-9a-hjkmnp-tv-z]{26}-\d{1,6}$/, 'unknown suspension id');
/** `<suspensionId>.<callId>`: one decision of a suspension. */
export const approvalIdSchema = z.string().regex(/^r-[0-9a-hjkmnp-tv-z]{26}-\d{1,6}\.c\d{1,6}-\d{1,3}$/, 'unknown approval id');
export const toolNameSchema = z.string().regex(/^[a-z][a-z0-9_]{0,62}$/, 'a tool name is a-z, then up to 62 of a-z 0-9 _');

/** Where a run lives. Nothing else of an execution's state data is believed (design 3.1). */
export const ctxSchema = z.object({ tenant: tenantSchema, runId: runIdSchema, step: z.int().min(0) });
export type Ctx = z.infer<typeof ctxSchema>;
export type RunKey = Pick<Ctx, 'tenant' | 'runId'>;

const BASE32 = '0123456789abcdefghjkmnpqrstvwxyz';

/** Crockford's base 32 of `bytes`, cut to `length` characters (5 bits each). */
export function base32(bytes: Uint8Array, length: number): string {
  let text = '';
  let buffer = 0;
  let bits = 0;
  for (const byte of bytes) {
    buffer = (buffer << 8) | byte;
    bits += 8;
    while (bits >= 5 && text.length < length) {
      bits -= 5;
      text += BASE32[(buffer >>> bits) & 31];
    }
    buffer &= (1 << bits) - 1;
  }
  return text;
}

/** Run id from 17 or more bytes: random ones, or a digest of tenant and idempotency key. */
export function runIdFrom(bytes: Uint8Array): string {
  return `r-${base32(bytes, 26)}`;
}

/** Namespace of a run's root frame; its messages are the session's conversation. */
export const MAIN = 'main';

export const callIdOf = (step: number, index: number): string => `c${step}-${index}`;
/** The step whose assistant message asked for the call. */
export const stepOfCall = (callId: string): number => Number(callId.slice(1, callId.indexOf('-')));
export const suspensionIdOf = (runId: string, step: number): string => `${runId}-${step}`;
export const approvalIdOf = (suspensionId: string, callId: string): string => `${suspensionId}.${callId}`;
export const executionName = (runId: string, execution: number): string => `${runId}-${execution}`;

/** Parts of an approval id; undefined when it is not one. */
export function parseApprovalId(id: string): { suspensionId: string; callId: string; runId: string } | undefined {
  if (!approvalIdSchema.safeParse(id).success) return undefined;
  const dot = id.indexOf('.');
  const suspensionId = id.slice(0, dot);
  return { suspensionId, callId: id.slice(dot + 1), runId: suspensionId.slice(0, suspensionId.lastIndexOf('-')) };
}
