import * as z from 'zod';
import { JsonFault, plainJson } from '../../hands/plain-json.ts';
import { isJsonObject, type Json, type JsonObject } from '../../json.ts';
import { TREE } from '../../limits.ts';
import type { Place, Walk } from '../node.ts';

/** A name for people and part of the node's path; no two nodes of a tree share one. */
export const nameField = z
  .string()
  .regex(/^[a-z][a-z0-9_-]{0,39}$/, 'expected a name: a letter a-z, then at most 39 of a-z, 0-9, _ and -')
  .optional();

/** Text that may hold `{{key}}`. */
export const templateField = z.string().min(1).max(TREE.textCharacters);

/** Any JSON that is safe to store and merge. */
export const jsonField: z.ZodType<Json> = z.unknown().transform((value, context): Json => {
  if (value === undefined) {
    context.addIssue({ code: 'custom', message: 'expected a value' });
    return z.NEVER;
  }
  const plain = plainJson(value);
  if (!(plain instanceof JsonFault)) return plain;
  context.addIssue({ code: 'custom', message: plain.message, path: plain.path === '' ? [] : plain.path.split('.') });
  return z.NEVER;
});

export const jsonObjectField: z.ZodType<JsonObject> = jsonField.transform((value, context): JsonObject => {
  if (isJsonObject(value)) return value;
  context.addIssue({ code: 'custom', message: 'expected a mapping' });
  return z.NEVER;
});

/** One warning for all placeholders of a node that nothing was found for. */
export function warnMissing(walk: Walk, place: Place, keys: readonly string[]): void {
  if (keys.length > 0) walk.warn(place, `nothing on the blackboard for ${[...new Set(keys)].map((key) => `{{${key}}}`).join(', ')}`);
}
