import { Parser } from 'htmlparser2';
import { PageReader, type ReadablePage } from './page-reader.ts';

export interface HtmlOptions {
  /** Where the page is: links are relative to it. */
  readonly url: string;
  /** `text` leaves out links and marks. */
  readonly format: 'markdown' | 'text';
  readonly signal: AbortSignal;
}

/** Characters that are parsed before others get their turn, the deadline's timer among them. */
const CHUNK = 32 * 1024;

/**
 * The visible text of a page as Markdown: headings, lists, links (absolute), tables, code; no script, style, form choices or
 * hidden elements. Time and memory grow with the page, not with how it is nested; too deep or too long a page is cut.
 */
export async function htmlToMarkdown(html: string, { url, format, signal }: HtmlOptions): Promise<ReadablePage> {
  const reader = new PageReader(url, format === 'text');
  // Without `onopentag` the parser keeps no attributes: a tag with a million of them costs nothing.
  const parser = new Parser({
    onopentagname: (name) => reader.open(name),
    onattribute: (name, value) => reader.attribute(name, value),
    ontext: (text) => reader.text(text),
    onclosetag: () => reader.close(),
  });
  for (let at = 0; at < html.length && reader.cut === undefined; at += CHUNK) {
    if (at > 0) await new Promise((resolve) => setImmediate(resolve));
    signal.throwIfAborted();
    parser.write(html.slice(at, at + CHUNK));
  }
  parser.end();
  return reader.page();
}
