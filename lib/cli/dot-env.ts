import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';

export interface DotEnv {
  readonly values: NodeJS.Dict<string>;
  /** `.env:<line>: <what is wrong and what to do>`. Never a value: it may be a secret. */
  readonly problems: readonly string[];
}

/** The `.env` file at `path`; nothing when there is none. Lines that are not understood are left out, and named. */
export function readDotEnv(path: string): DotEnv {
  const text = readIfThere(path).replace(/^\uFEFF/, '');
  return { values: parseEnv(text), problems: problemsIn(text).map(({ line, message }) => `.env:${line}: ${message}`) };
}

interface Problem {
  readonly line: number;
  readonly message: string;
}

const QUOTES = ['"', "'", '`'];
const NAME = /^[A-Za-z_][A-Za-z0-9_.-]*$/;

/** What Node's own parser passes over in silence. */
function problemsIn(text: string): Problem[] {
  const lines = text.split(/\r\n|\r|\n/);
  const problems: Problem[] = [];
  for (let index = 0; index < lines.length; index++) {
    const read = readLine(lines.slice(index));
    if (read.message !== undefined) problems.push({ line: index + 1, message: read.message });
    index += read.more;
  }
  return problems;
}

/** Of the first of `lines`. `more`: the lines behind it that belong to its quoted value. */
function readLine([first = '', ...rest]: readonly string[]): { readonly message?: string; readonly more: number } {
  const line = first.trim();
  if (line === '' || line.startsWith('#')) return { more: 0 };
  const at = line.indexOf('=');
  if (at === -1) return { message: 'has no "=", so it is ignored; write NAME=value, or # before a comment', more: 0 };
  if (
    !NAME.test(
      line
        .slice(0, at)
        .replace(/^export\s/, '')
        .trim(),
    )
  )
    return { message: 'what stands before "=" is not a name, so the line is ignored; write NAME=value', more: 0 };
  const value = line.slice(at + 1).trimStart();
  const quote = QUOTES.find((mark) => value.startsWith(mark));
  if (quote === undefined) return { more: 0 };
  const whole = [value, ...rest].join('\n');
  const end = whole.indexOf(quote, 1);
  if (end === -1) return { message: `the quote ${quote} is not closed; close it, or leave both out`, more: 0 };
  const behind = (whole.slice(end + 1).split('\n', 1)[0] ?? '').trim();
  const more = whole.slice(0, end).split('\n').length - 1;
  const message = `what follows the closing ${quote} is ignored; put another kind of quote around a value that holds it`;
  return behind === '' || behind.startsWith('#') ? { more } : { message, more };
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'EISDIR')) return '';
    throw error;
  }
}
