import * as z from 'zod';
import { CODES, codes, HandrailError } from '../errors.ts';
import type { ToolOutput } from '../hands/category.ts';

const thrownSchema = z.object({ code: z.enum(codes), message: z.string() });

/** What a handler gave back as the output of its tool. INVALID_OUTPUT for what JSON cannot hold. */
export function skillOutput(value: unknown): ToolOutput {
  if (value === undefined || value === null) return { text: '(no result)' };
  if (typeof value === 'string') return { text: value };
  try {
    const text = JSON.stringify(value);
    if (text !== undefined) return { json: JSON.parse(text) };
  } catch {
    // A circle, or a BigInt.
  }
  throw new HandrailError('INVALID_OUTPUT', 'the skill gave back something that JSON cannot hold');
}

/** What a handler threw: with a code of ours it says what it means, else nobody foresaw it. */
export function skillError(error: unknown): unknown {
  if (error instanceof HandrailError) return error;
  const thrown = thrownSchema.safeParse(error);
  if (!thrown.success || CODES[thrown.data.code].class === 'api') return error;
  return new HandrailError(thrown.data.code, thrown.data.message, { cause: error });
}
