import * as z from 'zod';
import { canonicalJson, isJsonObject, type Json } from '../../json.ts';
import { readKey, readKeySchema } from '../blackboard.ts';
import type { NodeDefinition } from '../node.ts';
import { jsonField, nameField } from './fields.ts';

const comparisons = {
  exists: z.boolean().optional(),
  equals: jsonField.optional(),
  not_equals: jsonField.optional(),
  gt: z.number().optional(),
  gte: z.number().optional(),
  lt: z.number().optional(),
  lte: z.number().optional(),
  /** The value is one of these. */
  in: z.array(jsonField).min(1).optional(),
  /** The value is a text or a list that holds this. */
  contains: jsonField.optional(),
};
const NAMES = Object.keys(comparisons);

const fields = z.strictObject({ type: z.literal('condition'), name: nameField, key: readKeySchema, ...comparisons });
type Fields = z.infer<typeof fields>;

/** Compares one value of the blackboard, once: when it is reached. A missing value differs from every other. */
export const condition: NodeDefinition<typeof fields> = {
  type: 'condition',
  fields,
  check(node) {
    const given = comparisonsOf(node);
    return given.length === 1
      ? undefined
      : `expected exactly one of ${NAMES.join(', ')}; found ${given.map(([name]) => name).join(', ') || 'none'}`;
  },
  label: describe,
  visit(place, walk) {
    const { node } = place;
    return walk.once(place, () => (holds(node, readKey(walk.blackboard, node.key)) ? undefined : `does not hold: ${describe(node)}`));
  },
};

function comparisonsOf(node: Fields): [string, unknown][] {
  return Object.entries(node).filter(([name, value]) => NAMES.includes(name) && value !== undefined);
}

function describe(node: Fields): string {
  return `${node.key} ${comparisonsOf(node)
    .map(([name, value]) => `${name} ${JSON.stringify(value)}`)
    .join(', ')}`.slice(0, 200);
}

function holds(node: Fields, value: Json | undefined): boolean {
  const { exists, equals, not_equals: differs, gt, gte, lt, lte, in: list, contains } = node;
  const number = typeof value === 'number' ? value : Number.NaN;
  if (exists !== undefined) return (value !== undefined) === exists;
  if (equals !== undefined) return same(value, equals);
  if (differs !== undefined) return !same(value, differs);
  if (gt !== undefined) return number > gt;
  if (gte !== undefined) return number >= gte;
  if (lt !== undefined) return number < lt;
  if (lte !== undefined) return number <= lte;
  if (list !== undefined) return list.some((item) => same(value, item));
  if (contains === undefined) return false;
  return typeof value === 'string' ? typeof contains === 'string' && value.includes(contains) : holdsItem(value, contains);
}

function holdsItem(value: Json | undefined, item: Json): boolean {
  if (Array.isArray(value)) return value.some((own) => same(own, item));
  return isJsonObject(value) && typeof item === 'string' && Object.hasOwn(value, item);
}

function same(a: Json | undefined, b: Json): boolean {
  return a !== undefined && canonicalJson(a) === canonicalJson(b);
}
