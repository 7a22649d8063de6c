import matter from 'gray-matter';
import { utf8Bytes } from '../../core/json.ts';
import { SKILL } from '../../core/limits.ts';
import type { FrontMatter } from '../../core/skills/notes.ts';
import { refusal } from './refusal.ts';
import { readYaml } from './yaml.ts';

export interface SplitSkill {
  readonly frontMatter: FrontMatter;
  readonly body: string;
  /** What was read in spite of how it is written. */
  readonly warnings: readonly { readonly line: number; readonly reason: string }[];
}

const FENCE = /^---[ \t]*$/;
/** Blank lines cost gray-matter the square of their number. */
const MAX_LINES = 1_000;
/** The front matter begins on this line. */
const FIRST_LINE = 2;

/**
 * The text of a SKILL.md as front matter and body. Byte order mark, CRLF and spaces behind a fence are read. Throws a
 * HandrailError BAD_REQUEST with the line as `extra.line`. Nothing in the text is ever run: every engine that could is
 * replaced by one that throws, and only bare `---` is taken in the first place.
 */
export function splitSkill(source: string): SplitSkill {
  const text = source.replace(/^\uFEFF/, '');
  const lines = text.split('\n').map((line) => line.replace(/\r$/, ''));
  checkOpening(lines[0] ?? '', text);
  const close = lines.findIndex((line, index) => index > 0 && FENCE.test(line));
  if (close === -1) throw refusal(1, 'the front matter is never closed: a line with nothing but --- is missing');
  if (close > MAX_LINES) throw refusal(1, `the front matter is over ${MAX_LINES} lines`);
  const front = lines.slice(1, close).join('\n');
  if (utf8Bytes(front) > SKILL.frontMatterBytes)
    throw refusal(1, `the front matter is over ${SKILL.frontMatterBytes} bytes; longer text belongs below it or in files`);
  const body = cut(front, lines.slice(close + 1).join('\n'));
  const { frontMatter, warnings } = readYaml(front, FIRST_LINE);
  return { frontMatter, body, warnings };
}

function checkOpening(first: string, text: string): void {
  if (FENCE.test(first)) return;
  if (text.trim() === '') throw refusal(1, 'the file is empty');
  if (/^---\r/.test(text)) throw refusal(1, 'lines end with CR alone; save it with LF or CRLF');
  if (/^---[ \t]*\w/.test(first)) throw refusal(1, `front matter in another language than YAML is never read: "${first.slice(0, 40)}"`);
  throw refusal(1, 'there is no front matter: the first line must be ---');
}

/** gray-matter splits, on fences that are known to be fences; should it see another end than we do, neither is believed. */
function cut(front: string, rest: string): string {
  let seen: string | undefined;
  const never = {
    parse: (): never => {
      throw refusal(1, 'front matter in another language than YAML is never read');
    },
  };
  const yaml = {
    parse: (block: string): object => {
      seen = block;
      return {};
    },
  };
  const { content } = matter(`---\n${front}\n---\n${rest}`, {
    language: 'yaml',
    engines: { yaml, json: never, js: never, javascript: never, coffee: never, coffeescript: never, cson: never, toml: never },
  });
  // Nothing but comments is not handed to an engine.
  if (seen === undefined && front.split('\n').every((line) => /^(?:#|$)/.test(line.trim())))
    throw refusal(FIRST_LINE, 'the front matter is empty');
  if (seen?.replace(/^\n/, '') !== front) throw refusal(1, 'a line of the front matter begins with ---');
  return content;
}
