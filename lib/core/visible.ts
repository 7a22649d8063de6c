/** Control and format characters and separators: what a screen obeys instead of showing. Joiners belong to words and emoji. */
const OBEYED = String.raw`[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]--[\n\t\u200c\u200d]]`;
/** Joiners where there is nothing to join, and letters that are blank. */
const BLANK = String.raw`(?<=^|[\0-\x7f])[\u200c\u200d]|[\u115f\u1160\u3164\uffa0]`;
const MARKS = new RegExp(`(${OBEYED}|${BLANK})`, 'v');

/** A piece of a text: as it is, or a character that would not show, written out as `\u{202e}`. */
export interface Piece {
  readonly text: string;
  readonly mark: boolean;
}

/**
 * Text of a model, a tool or a server, made safe to show: what a terminal or a browser would obey or leave blank is
 * written out, so that it can neither move the cursor, nor turn the order of letters round, nor make an approval look
 * like another. Keeps line breaks and tabs.
 */
export function pieces(text: string): Piece[] {
  return text
    .replaceAll('\r\n', '\n')
    .split(MARKS)
    .map((piece, index) => ({ text: index % 2 === 1 ? written(piece) : piece.toWellFormed(), mark: index % 2 === 1 }))
    .filter((piece) => piece.text !== '');
}

/** The same as one text. */
export function visible(text: string): string {
  return pieces(text)
    .map((piece) => piece.text)
    .join('');
}

const written = (mark: string): string => `\\u{${mark.codePointAt(0)?.toString(16)}}`;
