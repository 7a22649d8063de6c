// biome-ignore-all lint/suspicious/noControlCharactersInRegex: to find them is what these are for
// oxlint-disable no-control-regex -- the same

/** Strings a terminal acts on and does not show (`ESC ]` titles and links, `ESC P`, …), when they end on their line. */
const TERMINAL_STRING = /\x1b[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)/g;
/** `ESC [ … letter`: colours, cursor. */
const TERMINAL_SEQUENCE = /\x1b\[[0-?]*[ -/]*[@-~]?/g;
const OTHER_ESCAPE = /\x1b[ -/]*[0-~]?/g;
const LINE_END = /\r\n?/g;
/** All of C0, DEL and C1 but tab and line feed. */
const CONTROL = /[\0-\x08\x0b-\x1f\x7f-\x9f]/g;

/**
 * Text that every reader can take: no terminal escapes, no control characters but tab and line feed, half characters replaced
 * by U+FFFD (design 6.2: a lone surrogate makes a provider refuse the whole history).
 */
export function cleanText(text: string): string {
  return text
    .replace(TERMINAL_STRING, '')
    .replace(TERMINAL_SEQUENCE, '')
    .replace(OTHER_ESCAPE, '')
    .replace(LINE_END, '\n')
    .replace(CONTROL, '')
    .toWellFormed();
}

/** Bytes of `text` inside a JSON string, without the quotes: what state data and items are charged for. */
export function escapedBytes(text: string): number {
  let bytes = 0;
  for (const character of text) bytes += escapedCharacter(character);
  return bytes;
}

function escapedCharacter(character: string): number {
  const code = character.codePointAt(0) ?? 0;
  if (code === 0x22 || code === 0x5c) return 2;
  if (code < 0x20) return [0x08, 0x09, 0x0a, 0x0c, 0x0d].includes(code) ? 2 : 6;
  if (code < 0x80) return 1;
  if (code < 0x800) return 2;
  if (code >= 0xd800 && code <= 0xdfff) return 6;
  return code < 0x10000 ? 3 : 4;
}

/** The longest start of `text` that takes at most `budget` escaped bytes. No character is parted. */
export function startOf(text: string, budget: number): string {
  let bytes = 0;
  let end = 0;
  for (const character of text) {
    bytes += escapedCharacter(character);
    if (bytes > budget) return text.slice(0, end);
    end += character.length;
  }
  return text;
}

/** The longest end of `text` that takes at most `budget` escaped bytes. No character is parted. */
export function endOf(text: string, budget: number): string {
  let bytes = 0;
  let start = text.length;
  while (start > 0) {
    const step = start > 1 && (text.codePointAt(start - 2) ?? 0) > 0xffff ? 2 : 1;
    bytes += escapedCharacter(text.slice(start - step, start));
    if (bytes > budget) break;
    start -= step;
  }
  return text.slice(start);
}

/** `text` if it fits `budget` escaped bytes, else its start and its end, which `note` says to be parts; the note is part of the budget. */
export function cutMiddle(
  text: string,
  budget: number,
  note: (leftOut: number) => string,
): { readonly text: string; readonly cut: boolean } {
  if (text.length <= budget && escapedBytes(text) <= budget) return { text, cut: false };
  const room = Math.max(0, budget - escapedBytes(note(text.length)));
  const head = startOf(text, Math.ceil(room * 0.6));
  const tail = endOf(text.slice(head.length), Math.floor(room * 0.4));
  return { text: `${head}${note(text.length - head.length - tail.length)}${tail}`, cut: true };
}

/** `text` if it fits `budget` escaped bytes, else its start and a note; the note is part of the budget (seed 004 section 3.4). */
export function cutText(text: string, budget: number, note: string): { readonly text: string; readonly cut: boolean } {
  if (text.length <= budget && escapedBytes(text) <= budget) return { text, cut: false };
  return { text: startOf(startOf(text, Math.max(0, budget - escapedBytes(note))) + note, budget), cut: true };
}
