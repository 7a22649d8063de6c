import * as z from 'zod';
import { HandrailError } from '../../../core/errors.ts';

const cursorSchema = z.tuple([z.string(), z.string()]);

/**
 * A place in a list, as clients are given it. `owner` (the kind of list and whose it is) is compared on the way back; the
 * partition that is read always comes from the caller's own tenant, so a forged cursor can only move within it.
 */
export function makeCursor(owner: string, position: string): string {
  return Buffer.from(JSON.stringify([owner, position])).toString('base64url');
}

/** The position in a cursor made for `owner`, which has the form of `position`. BAD_REQUEST for any other text. */
export function readCursor(owner: string, cursor: string, position: z.ZodString): string {
  const parsed = cursorSchema.safeParse(decode(cursor));
  if (!parsed.success || parsed.data[0] !== owner || !position.safeParse(parsed.data[1]).success)
    throw new HandrailError('BAD_REQUEST', 'this cursor is not of this list; begin without one', { field: 'cursor' });
  return parsed.data[1];
}

function decode(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch {
    return undefined;
  }
}
