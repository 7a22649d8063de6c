import * as z from 'zod';
import { HandrailError } from '../errors.ts';
import { isJsonObject, type Json } from '../json.ts';
import { BLACKBOARD_BYTES, TREE } from '../limits.ts';

type Blackboard = Readonly<Record<string, Json>>;

/** No two underscores in front: that is how `__proto__` begins. */
const KEY = /^(?!__)[A-Za-z_][A-Za-z0-9_-]{0,63}$/;
const READ_KEY = /^(?!__)[A-Za-z_][A-Za-z0-9_-]{0,63}(?:\.[A-Za-z0-9_-]{1,64}){0,15}$/;
/** A name between double braces; anything else between them stays as it is. */
const PLACEHOLDER = /\{\{\s*((?!__)[A-Za-z_][A-Za-z0-9_-]{0,63}(?:\.[A-Za-z0-9_-]{1,64}){0,15})\s*\}\}/g;

/** A key that a node writes. */
export const writeKeySchema = z.string().regex(KEY, 'expected a key: letters, digits, _ or -, beginning with a letter or one _');
/** What a node reads: a key, or a part of its value: `lint.exitCode`, `files.0`. */
export const readKeySchema = z
  .string()
  .regex(READ_KEY, 'expected a key (letters, digits, _ or -, beginning with a letter or one _), then a dot before each part of its value');

/** The value at a key or a part of it; undefined when there is none. Own properties only. */
export function readKey(blackboard: Blackboard, key: string): Json | undefined {
  let value: Json | undefined = blackboard;
  for (const part of key.split('.')) {
    if (Array.isArray(value)) value = /^\d{1,9}$/.test(part) ? value[Number(part)] : undefined;
    else value = isJsonObject(value) && Object.hasOwn(value, part) ? value[part] : undefined;
  }
  return value;
}

interface Rendered<T> {
  readonly value: T;
  /** Placeholders that nothing was found for. */
  readonly missing: readonly string[];
}

/**
 * Text with every `{{key}}` replaced: strings as they are, other values as JSON, nothing for what is missing. What is filled in
 * is not looked at again. Throws RESOURCE_EXHAUSTED when the text grows over its limit.
 */
export function renderText(template: string, blackboard: Blackboard): Rendered<string> {
  const rendered = fill(template, blackboard, TREE.textCharacters);
  if (rendered.value.length > TREE.textCharacters) throw tooLong(`${TREE.textCharacters} characters`);
  return rendered;
}

/** The same, cut to `limit` characters. */
export function renderCut(template: string, blackboard: Blackboard, limit: number): Rendered<string> {
  const { value, missing } = fill(template, blackboard, limit);
  return { value: value.length <= limit ? value : `${value.slice(0, limit - 1).toWellFormed()}…`, missing };
}

/** Stops once the text is longer than `limit`. */
function fill(template: string, blackboard: Blackboard, limit: number): Rendered<string> {
  const missing: string[] = [];
  let text = '';
  let end = 0;
  for (const match of template.matchAll(PLACEHOLDER)) {
    const key = match[1] ?? '';
    const value = readKey(blackboard, key);
    if (value === undefined) missing.push(key);
    text += template.slice(end, match.index) + (value === undefined ? '' : textOf(value));
    end = match.index + match[0].length;
    if (text.length > limit) return { value: text, missing };
  }
  return { value: text + template.slice(end), missing };
}

function tooLong(limit: string): HandrailError {
  return new HandrailError('RESOURCE_EXHAUSTED', `RESOURCE_EXHAUSTED: over ${limit} with its placeholders filled in`);
}

/** A value with the placeholders in all its texts replaced. A text that is one placeholder becomes the value itself, null if missing. */
export function renderValue(template: Json, blackboard: Blackboard): Rendered<Json> {
  const missing: string[] = [];
  let left: number = BLACKBOARD_BYTES;
  const text = (item: string): Json => {
    const [only, ...others] = item.matchAll(PLACEHOLDER);
    if (only !== undefined && others.length === 0 && only[0] === item) {
      const value = readKey(blackboard, only[1] ?? '');
      if (value === undefined) missing.push(only[1] ?? '');
      return value ?? null;
    }
    const rendered = renderText(item, blackboard);
    missing.push(...rendered.missing);
    left -= rendered.value.length;
    if (left < 0) throw tooLong(`${BLACKBOARD_BYTES} bytes`);
    return rendered.value;
  };
  const render = (item: Json): Json => {
    if (typeof item === 'string') return text(item);
    if (Array.isArray(item)) return item.map(render);
    return isJsonObject(item) ? Object.fromEntries(Object.entries(item).map(([key, value]) => [key, render(value)])) : item;
  };
  return { value: render(template), missing };
}

function textOf(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}
