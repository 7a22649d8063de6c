import * as z from 'zod';
import { HandrailError } from '../errors.ts';
import { isJsonObject, type Json } from '../json.ts';
import { BLACKBOARD_BYTES, TREE } from '../limits.ts';
import { FENCE_NOTE, fence } from '../outside.ts';

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

/** What placeholders are filled in from. `untrusted`: keys of values that strangers wrote, or some part of. */
interface Source {
  readonly blackboard: Blackboard;
  readonly untrusted: ReadonlySet<string>;
}

interface Rendered<T> {
  readonly value: T;
  /** Placeholders that nothing was found for. */
  readonly missing: readonly string[];
  /** Strangers wrote some of what was filled in. */
  readonly untrusted: boolean;
}

/** How a value is put in place of its placeholder. */
type Show = (key: string, value: Json, untrusted: boolean) => string;

const plain: Show = (_key, value) => textOf(value);
const marked: Show = (key, value, untrusted) => (untrusted ? fence(textOf(value), `value="${key}"`) : textOf(value));

/**
 * Text for an LLM with every `{{key}}` replaced: strings as they are, other values as JSON, nothing for what is missing. What is
 * filled in is not looked at again; what strangers wrote of it is marked. `moved`: keys whose values are shown at the end.
 * Throws RESOURCE_EXHAUSTED when the text grows over its limit.
 */
export function renderPrompt(template: string, source: Source, moved: readonly string[] = []): Rendered<string> {
  const whole = [template, ...moved.map((key) => `{{${key}}}`)].join('\n\n');
  const { value, ...rest } = fill(whole, source, TREE.textCharacters, marked);
  return withinLimit({ ...rest, value: rest.untrusted ? `${value}\n\n${FENCE_NOTE}` : value });
}

/** The same for a system prompt, whose weight no stranger's text may have: it is named there, and `moved` to the request. */
export function renderSystem(template: string, source: Source): Rendered<string> & { readonly moved: readonly string[] } {
  const moved = new Set<string>();
  const named: Show = (key, value, untrusted) => {
    if (!untrusted) return textOf(value);
    moved.add(key);
    return `(the value "${key}" at the end of the request)`;
  };
  return { ...withinLimit(fill(template, source, TREE.textCharacters, named)), moved: [...moved] };
}

/** Text for people, cut to `limit` characters. */
export function renderCut(template: string, source: Source, limit: number): Rendered<string> {
  const { value, ...rest } = fill(template, source, limit, plain);
  return { ...rest, value: value.length <= limit ? value : `${value.slice(0, limit - 1).toWellFormed()}…` };
}

/** Strangers may have written it. Numbers and truth values say nothing. */
function isUntrusted({ untrusted }: Source, key: string, value: Json): boolean {
  return untrusted.has(key.split('.')[0] ?? key) && (typeof value === 'string' || (typeof value === 'object' && value !== null));
}

/** Stops once the text is longer than `limit`. */
function fill(template: string, source: Source, limit: number, show: Show): Rendered<string> {
  const missing: string[] = [];
  let untrusted = false;
  let text = '';
  let end = 0;
  for (const match of template.matchAll(PLACEHOLDER)) {
    const key = match[1] ?? '';
    const value = readKey(source.blackboard, key);
    text += template.slice(end, match.index);
    if (value === undefined) missing.push(key);
    else {
      const isOutside = isUntrusted(source, key, value);
      untrusted ||= isOutside;
      text += show(key, value, isOutside);
    }
    end = match.index + match[0].length;
    if (text.length > limit) return { value: text, missing, untrusted };
  }
  return { value: text + template.slice(end), missing, untrusted };
}

function withinLimit(rendered: Rendered<string>): Rendered<string> {
  if (rendered.value.length > TREE.textCharacters) throw tooLong(`${TREE.textCharacters} characters`);
  return rendered;
}

function tooLong(limit: string): HandrailError {
  return new HandrailError('RESOURCE_EXHAUSTED', `RESOURCE_EXHAUSTED: over ${limit} with its placeholders filled in`);
}

/** A value with the placeholders in all its texts replaced. A text that is one placeholder becomes the value itself, null if missing. */
export function renderValue(template: Json, source: Source): Rendered<Json> {
  const missing: string[] = [];
  let untrusted = false;
  let left: number = BLACKBOARD_BYTES;
  const text = (item: string): Json => {
    const [only, ...others] = item.matchAll(PLACEHOLDER);
    if (only !== undefined && others.length === 0 && only[0] === item) {
      const key = only[1] ?? '';
      const value = readKey(source.blackboard, key);
      if (value === undefined) missing.push(key);
      else untrusted ||= isUntrusted(source, key, value);
      return value ?? null;
    }
    const rendered = withinLimit(fill(item, source, TREE.textCharacters, plain));
    missing.push(...rendered.missing);
    untrusted ||= rendered.untrusted;
    left -= rendered.value.length;
    if (left < 0) throw tooLong(`${BLACKBOARD_BYTES} bytes`);
    return rendered.value;
  };
  const render = (item: Json): Json => {
    if (typeof item === 'string') return text(item);
    if (Array.isArray(item)) return item.map(render);
    return isJsonObject(item) ? Object.fromEntries(Object.entries(item).map(([key, value]) => [key, render(value)])) : item;
  };
  return { value: render(template), missing, untrusted };
}

function textOf(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}
