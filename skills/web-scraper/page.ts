import { Parser } from 'htmlparser2';

export interface Page {
  readonly title: string;
  readonly markdown: string;
  readonly text: string;
  readonly headings: readonly { readonly level: number; readonly text: string }[];
  readonly links: readonly { readonly text: string; readonly url: string }[];
  readonly tables: readonly (readonly (readonly string[])[])[];
}

/** Elements whose text nobody reads. */
const SKIPPED = new Set(['title', 'script', 'style', 'noscript', 'template', 'svg', 'nav', 'footer', 'form', 'iframe', 'head']);
const BLOCKS = new Set([
  'p',
  'div',
  'section',
  'article',
  'main',
  'ul',
  'ol',
  'table',
  'blockquote',
  'pre',
  'figure',
  'header',
  'aside',
  'dl',
  'dt',
  'dd',
]);
const MAX_ITEMS = 200;

/** What a page says, in one pass over its elements; links are absolute. Nothing in it is run or loaded. */
export function readPage(html: string, url: string): Page {
  const reader = new Reader(url);
  const parser = new Parser({
    onopentag: (name, attributes) => reader.open(name, attributes),
    ontext: (text) => reader.text(text),
    onclosetag: (name) => reader.close(name),
  });
  parser.write(html);
  parser.end();
  return reader.page();
}

class Reader {
  readonly #url: string;
  readonly #headings: { level: number; text: string }[] = [];
  readonly #links: { text: string; url: string }[] = [];
  readonly #tables: string[][][] = [];
  #title = '';
  #inTitle = false;
  #skipped = 0;
  #markdown = '';
  #text = '';
  /** Where the text of the open heading, link and cell begins in `#text`. */
  #heading: number | undefined;
  #link: { start: number; url: string } | undefined;
  #cell: number | undefined;

  constructor(url: string) {
    this.#url = url;
  }

  open(name: string, attributes: Readonly<Record<string, string>>): void {
    if (name === 'title') this.#inTitle = true;
    if (SKIPPED.has(name)) this.#skipped += 1;
    if (this.#skipped > 0) return;
    if (BLOCKS.has(name)) this.#break('\n\n');
    if (name === 'br') this.#break('\n');
    if (name === 'li') this.#break('\n', '- ');
    if (/^h[1-6]$/.test(name)) {
      this.#break('\n\n', `${'#'.repeat(Number(name[1]))} `);
      this.#heading = this.#text.length;
    }
    if (name === 'a' && attributes['href'] && URL.canParse(attributes['href'], this.#url)) {
      this.#link = { start: this.#text.length, url: new URL(attributes['href'], this.#url).href };
      this.#markdown += '[';
    }
    if (name === 'table') this.#tables.push([]);
    if (name === 'tr') {
      this.#tables.at(-1)?.push([]);
      this.#break('\n');
    }
    if (name === 'td' || name === 'th') {
      this.#cell = this.#text.length;
      this.#markdown += '| ';
    }
  }

  text(text: string): void {
    if (this.#inTitle) this.#title += text;
    if (this.#skipped > 0) return;
    const plain = text.replace(/\s+/g, ' ');
    this.#markdown += plain;
    this.#text += plain;
  }

  close(name: string): void {
    if (name === 'title') this.#inTitle = false;
    if (SKIPPED.has(name)) {
      this.#skipped = Math.max(0, this.#skipped - 1);
      return;
    }
    if (this.#skipped > 0) return;
    if (/^h[1-6]$/.test(name) && this.#heading !== undefined) {
      this.#headings.push({ level: Number(name[1]), text: this.#since(this.#heading) });
      this.#heading = undefined;
      this.#break('\n\n');
    }
    if (name === 'a' && this.#link) {
      this.#markdown += `](${this.#link.url})`;
      this.#links.push({ text: this.#since(this.#link.start), url: this.#link.url });
      this.#link = undefined;
    }
    if ((name === 'td' || name === 'th') && this.#cell !== undefined) {
      this.#tables.at(-1)?.at(-1)?.push(this.#since(this.#cell));
      this.#cell = undefined;
      this.#markdown += ' ';
      this.#text += ' ';
    }
    if (BLOCKS.has(name)) this.#break('\n\n');
  }

  page(): Page {
    return {
      title: tidy(this.#title),
      markdown: tidy(this.#markdown),
      text: tidy(this.#text),
      headings: this.#headings.filter(({ text }) => text !== '').slice(0, MAX_ITEMS),
      links: this.#links.filter(({ text, url }) => text !== '' && /^https?:/.test(url)).slice(0, MAX_ITEMS),
      tables: this.#tables.map((rows) => rows.filter((row) => row.length > 0).slice(0, MAX_ITEMS)).filter((rows) => rows.length > 0),
    };
  }

  #break(lines: string, mark = ''): void {
    this.#markdown += lines + mark;
    this.#text += lines;
  }

  #since(start: number): string {
    return this.#text.slice(start).replace(/\s+/g, ' ').trim();
  }
}

function tidy(text: string): string {
  return text
    .split('\n')
    .map((line) => line.trim())
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}
