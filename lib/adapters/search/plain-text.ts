import { Parser } from 'htmlparser2';

/** Longer texts are not read to their end. */
const MAX_CHARACTERS = 20_000;

/** What a fragment of HTML says, in one line: search services mark what was found, and write `&` as they would in a page. */
export function plainText(html: string): string {
  const pieces: string[] = [];
  const parser = new Parser({ ontext: (text) => pieces.push(text) });
  parser.end(html.slice(0, MAX_CHARACTERS));
  return pieces.join('').replace(/\s+/g, ' ').trim();
}
