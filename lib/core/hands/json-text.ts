import type { Json } from '../json.ts';
import { JSON_DEPTH } from '../limits.ts';

export type JsonReading =
  | { readonly ok: true; readonly value: Json; readonly repaired: boolean }
  | { readonly ok: false; readonly message: string };

/** How often a string is opened to find JSON inside it. */
const UNWRAPS = 2;

/**
 * JSON as LLMs write it. A plain parse comes first; what it refuses, or what turns out to be a string, is repaired only
 * where a single reading exists and nothing is lost: fences, double encoding, special tokens after the end, trailing
 * commas, raw line breaks in strings, single or curly quotes, unquoted keys, Python's True, False, None. What was cut
 * short is never completed. Duplicate keys and integers that a double cannot hold are errors (design 6.3).
 */
export function readJsonText(text: string, unwraps = UNWRAPS): JsonReading {
  const trimmed = text.trim();
  const plain = parse(trimmed);
  const strict = plain.ok ? trimmed : strictJson(withoutSpecialToken(withoutFence(trimmed)));
  const parsed = plain.ok ? plain : strict === undefined ? undefined : parse(strict);
  if (strict === undefined || !parsed?.ok) return { ok: false, message: whyBroken(trimmed, plain.ok ? '' : plain.message) };
  if (typeof parsed.value === 'string' && unwraps > 0) {
    const inner = readJsonText(parsed.value, unwraps - 1);
    if (inner.ok && typeof inner.value === 'object' && inner.value !== null) return { ...inner, repaired: true };
    if (!inner.ok && parsed.value.trimStart().startsWith('{')) return inner;
  }
  const fault = lossIn(strict);
  return fault === undefined ? { ok: true, value: parsed.value, repaired: !plain.ok } : { ok: false, message: fault };
}

type Parsed = { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly message: string };

function parse(text: string): Parsed {
  try {
    return { ok: true, value: JSON.parse(text) as Json };
  } catch (error) {
    return { ok: false, message: error instanceof Error ? error.message : '' };
  }
}

/** Where the text stops being JSON. Of the text itself nothing is repeated: it may be long. */
function whyBroken(text: string, message: string): string {
  const position = Number(/position (\d+)/.exec(message)?.[1] ?? 0);
  const cut = position >= text.length || /^Unterminated|end of JSON/.test(message);
  return cut
    ? `not valid JSON: it ends too early, after ${text.length} characters (cut short?)`
    : `not valid JSON: unexpected text at character ${position + 1} of ${text.length}`;
}

function withoutFence(text: string): string {
  const firstLine = text.indexOf('\n');
  if (!text.startsWith('```') || !text.endsWith('```') || firstLine < 0 || firstLine > text.length - 4) return text;
  return /^[A-Za-z0-9]{0,16}$/.test(text.slice(3, firstLine).trim()) ? text.slice(firstLine + 1, -3).trim() : text;
}

function withoutSpecialToken(text: string): string {
  const start = text.endsWith('|>') ? text.lastIndexOf('<|') : -1;
  return start > 0 && /^[A-Za-z_]{1,32}$/.test(text.slice(start + 2, -2)) ? text.slice(0, start).trim() : text;
}

/** Double-quoted, single-quoted, curly-quoted, punctuation, word. No alternative can match in two ways, so this is linear. */
const TOKEN = /\s*(?:("[^"\\]*(?:\\[\s\S][^"\\]*)*")|'([^'"\\]*)'|“([^“”"\\]*)”|([{}[\],:])|([^\s{}[\],:"'“”]+))/y;
const PYTHON: ReadonlyMap<string, string> = new Map([
  ['True', 'true'],
  ['False', 'false'],
  ['None', 'null'],
]);

/** The same tokens in strict JSON; undefined when a token has no single meaning. Whether their order makes sense is left to the parser. */
function strictJson(text: string): string | undefined {
  const tokens: string[] = [];
  const pattern = new RegExp(TOKEN);
  while (pattern.lastIndex < text.length) {
    const match = pattern.exec(text);
    if (!match) return undefined;
    const [, double, single, curly, mark, word] = match;
    const quoted = single ?? curly;
    if (mark === ':') quoteKey(tokens);
    if (mark === '}' || mark === ']') dropTrailingComma(tokens);
    if (double !== undefined) tokens.push(double.replace(/\p{Cc}/gu, (control) => JSON.stringify(control).slice(1, -1)));
    else if (quoted !== undefined) tokens.push(JSON.stringify(quoted));
    else tokens.push(mark ?? PYTHON.get(word ?? '') ?? word ?? '');
  }
  return tokens.join(' ');
}

function quoteKey(tokens: string[]): void {
  const key = tokens.at(-1);
  if (key !== undefined && /^[A-Za-z_$][\w$-]*$/.test(key)) tokens[tokens.length - 1] = JSON.stringify(key);
}

function dropTrailingComma(tokens: string[]): void {
  const before = tokens.at(-2);
  if (tokens.at(-1) === ',' && before !== undefined && !['{', '[', ',', ':'].includes(before)) tokens.pop();
}

/** What a parser loses without a word: of valid JSON, the first duplicate key, integer that changes its digits, or depth too great. */
function lossIn(strict: string): string | undefined {
  const pattern = new RegExp(TOKEN);
  /** Keys of each open object; undefined for an array. */
  const open: (Set<string> | undefined)[] = [];
  let text: string | undefined;
  while (pattern.lastIndex < strict.length) {
    const match = pattern.exec(strict);
    if (!match) return undefined;
    const [, double, , , mark, word] = match;
    if (mark === '{' || mark === '[') open.push(mark === '{' ? new Set() : undefined);
    if (open.length > JSON_DEPTH) return `nested deeper than ${JSON_DEPTH} levels`;
    if (mark === '}' || mark === ']') open.pop();
    if (mark === ':' && text !== undefined) {
      const key: unknown = JSON.parse(text);
      const keys = open.at(-1);
      if (typeof key === 'string' && keys?.has(key)) return `the key ${JSON.stringify(key.slice(0, 64))} stands there twice`;
      if (typeof key === 'string') keys?.add(key);
    }
    if (word !== undefined && losesDigits(word))
      return `the number ${word.slice(0, 32)} is too large to be kept exactly; send it as a string if the tool takes one`;
    text = double;
  }
  return undefined;
}

function losesDigits(word: string): boolean {
  const value = Number(word);
  if (Number.isNaN(value)) return false;
  return !Number.isFinite(value) || (/^-?\d+$/.test(word) && !Number.isSafeInteger(value));
}
