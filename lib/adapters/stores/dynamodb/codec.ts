import type * as z from 'zod';
import { HandrailError } from '../../../core/errors.ts';
import { utf8Bytes } from '../../../core/json.ts';

/** An item as the document client gives and takes it. */
export type Item = Record<string, unknown>;

/**
 * JSON text of a value. What may hold foreign JSON is stored as text: DynamoDB allows 32 levels, 38 digits and no empty
 * key, a tool's arguments know no such limits; it is also a third of the bytes on the wire. NaN and Infinity are refused
 * where they arise, since JSON would turn them into null.
 */
export function toText(value: unknown): string {
  const text = JSON.stringify(value, (key, part: unknown) => finite(key, part));
  if (text === undefined) throw new HandrailError('INTERNAL', 'there is no JSON for this value');
  return text;
}

/** Attributes of a record: those in `textKeys` as JSON text, the others as they are, undefined left out. */
export function toItem(record: Readonly<Record<string, unknown>>, textKeys: ReadonlySet<string>): Item {
  const item: Item = {};
  for (const [key, value] of Object.entries(record)) {
    if (value !== undefined) item[key] = textKeys.has(key) ? toText(value) : finite(key, value);
  }
  return item;
}

/** Parses an item by its schema. INTERNAL, with the item's key, when it is broken or of a version this code does not know. */
export function fromItem<Schema extends z.ZodType>(schema: Schema, item: Item, textKeys: ReadonlySet<string>): z.infer<Schema> {
  const record: Item = {};
  for (const [key, value] of Object.entries(item)) record[key] = textKeys.has(key) ? fromText(item, value) : value;
  return check(schema, item, record);
}

/** Parses what an item's `key` attribute holds as text, by `schema`. */
export function parseText<Schema extends z.ZodType>(schema: Schema, item: Item, text: unknown): z.infer<Schema> {
  return check(schema, item, fromText(item, text));
}

/** Size as DynamoDB counts it: names and values, UTF-8 (numbers at their largest). */
export function itemBytes(item: Item): number {
  let bytes = 0;
  for (const [key, value] of Object.entries(item)) bytes += utf8Bytes(key) + valueBytes(value);
  return bytes;
}

function valueBytes(value: unknown): number {
  if (typeof value === 'string') return utf8Bytes(value);
  if (typeof value === 'number') return 21;
  if (Array.isArray(value)) return value.reduce<number>((sum, part) => sum + 1 + valueBytes(part), 3);
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).reduce((sum, [key, part]) => sum + 1 + utf8Bytes(key) + valueBytes(part), 3);
  return 1;
}

function check<Schema extends z.ZodType>(schema: Schema, item: Item, record: unknown): z.infer<Schema> {
  const parsed = schema.safeParse(record);
  if (!parsed.success) throw new HandrailError('INTERNAL', `unreadable item ${itemName(item)}`, { cause: parsed.error });
  return parsed.data;
}

function fromText(item: Item, value: unknown): unknown {
  if (typeof value !== 'string') throw new HandrailError('INTERNAL', `unreadable item ${itemName(item)}: JSON text expected`);
  try {
    return JSON.parse(value);
  } catch (cause) {
    throw new HandrailError('INTERNAL', `unreadable item ${itemName(item)}: broken JSON text`, { cause });
  }
}

function finite(key: string, value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value))
    throw new HandrailError('INTERNAL', `${key} is ${value}: not a number that can be stored`);
  return value;
}

const itemName = (item: Item): string => `${String(item['pk'])} / ${String(item['sk'])} (v ${String(item['v'])})`;
