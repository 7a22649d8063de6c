import { BLOCKS, EMPHASIS, HEADINGS, isHidden, READ_ATTRIBUTES } from './html-elements.ts';
import { MarkdownFlow } from './markdown-flow.ts';
import { TableWriter } from './table-writer.ts';

export interface ReadablePage {
  /** Of `<title>`, in one line; may be empty. */
  readonly title: string;
  readonly text: string;
  /** Why the rest was left out. */
  readonly cut?: string;
}

type Attributes = ReadonlyMap<string, string>;

/** Browsers stop at 512 too; the parser's own cost grows with the square of the depth. */
const MAX_DEPTH = 512;
/** Elements inside each other that are gathered before they are written: each costs another copy of its text. */
const MAX_GATHERED = 24;
const MAX_CHARACTERS = 1_000_000;
const ATTRIBUTE_CHARACTERS = 4_096;
const TITLE_CHARACTERS = 300;
/** An open element: what is to be done when it closes. */
interface Open {
  readonly hidden: boolean;
  readonly close: (() => void) | undefined;
}

/** Turns the tags and texts of a page, as they come, into Markdown. `close` ends the element that was opened last. */
export class PageReader {
  /** Why nothing more is read. */
  cut: string | undefined;
  #base: string;
  readonly #plain: boolean;
  readonly #open: Open[] = [];
  /** Elements whose text is gathered before it is written; the last is written to. */
  readonly #flows: MarkdownFlow[] = [new MarkdownFlow()];
  readonly #tables: TableWriter[] = [];
  readonly #lists: { ordered: boolean; next: number }[] = [];
  #pending: { name: string; attributes: Map<string, string> } | undefined;
  #hidden = 0;
  #pre = 0;
  #title: string | undefined;
  #inTitle = false;
  #inLink = false;

  constructor(url: string, plain: boolean) {
    this.#base = url;
    this.#plain = plain;
  }

  open(name: string): void {
    this.#flush();
    this.#pending = { name, attributes: new Map() };
  }

  attribute(name: string, value: string): void {
    const attributes = this.#pending?.attributes;
    if (READ_ATTRIBUTES.has(name) && attributes && !attributes.has(name)) attributes.set(name, value.slice(0, ATTRIBUTE_CHARACTERS));
  }

  text(text: string): void {
    this.#flush();
    if (this.#flow.length > MAX_CHARACTERS) this.cut ??= 'it is too long';
    if (this.cut !== undefined) return;
    if (this.#inTitle) this.#title = `${this.#title ?? ''}${text}`.slice(0, ATTRIBUTE_CHARACTERS);
    else if (this.#hidden === 0) this.#write(text);
  }

  close(): void {
    this.#flush();
    const element = this.#open.pop();
    if (element?.hidden) this.#hidden--;
    element?.close?.();
  }

  page(): ReadablePage {
    this.#flush();
    const title = (this.#title ?? '').replace(/\s+/g, ' ').trim().slice(0, TITLE_CHARACTERS);
    return { title, text: String(this.#flows[0]), ...(this.cut === undefined ? {} : { cut: this.cut }) };
  }

  get #flow(): MarkdownFlow {
    const flow = this.#flows.at(-1);
    if (flow === undefined) throw new TypeError('no flow is open');
    return flow;
  }

  #write(text: string): void {
    if (this.#pre > 0) this.#flow.mark(text);
    else this.#flow.text(text);
  }

  /** Opens the element whose attributes have now all been seen. */
  #flush(): void {
    const element = this.#pending;
    if (element === undefined) return;
    this.#pending = undefined;
    if (this.#open.length >= MAX_DEPTH) this.cut ??= 'it is nested too deeply';
    if (this.#flow.length > MAX_CHARACTERS) this.cut ??= 'it is too long';
    const secondTitle = element.name === 'title' && this.#title !== undefined;
    const hidden = secondTitle || isHidden(element.name, element.attributes);
    if (hidden) this.#hidden++;
    const seen = this.#hidden === 0 && this.cut === undefined;
    this.#open.push({ hidden, close: seen ? this.#begin(element.name, element.attributes) : undefined });
  }

  /** Writes what an element begins with; the function writes what it ends with. */
  #begin(name: string, attributes: Attributes): (() => void) | undefined {
    const blank = BLOCKS.get(name);
    if (name === 'table') return this.#table();
    if (blank !== undefined) return this.#block(blank);
    if (HEADINGS.includes(name)) return this.#heading(HEADINGS.indexOf(name) + 1);
    const mark = EMPHASIS.get(name);
    if (mark !== undefined && this.#pre === 0) return this.#emphasis(mark);
    switch (name) {
      case 'title':
        return this.#titleElement();
      case 'base':
        this.#base = absolute(attributes.get('href'), this.#base) ?? this.#base;
        return undefined;
      case 'a':
        return this.#link(attributes.get('href'));
      case 'img':
        this.#image(attributes);
        return undefined;
      case 'br':
        if (this.#pre > 0) this.#flow.mark('\n');
        else if (this.#flows.length > 1) this.#flow.space();
        else this.#flow.break(false);
        return undefined;
      case 'hr':
        this.#flow.block('---');
        return undefined;
      case 'ul':
      case 'ol':
        return this.#list(name === 'ol', attributes.get('start'));
      case 'li':
        return this.#item();
      case 'blockquote':
        return this.#quote();
      case 'pre':
        return this.#code();
      case 'tr':
        this.#tables.at(-1)?.row(this.#flow);
        return undefined;
      case 'td':
      case 'th':
        return this.#cell();
      default:
        return undefined;
    }
  }

  #titleElement(): () => void {
    this.#title = '';
    this.#inTitle = true;
    return () => {
      this.#inTitle = false;
    };
  }

  #block(blank: boolean): () => void {
    this.#flow.break(blank);
    return () => this.#flow.break(blank);
  }

  #heading(level: number): () => void {
    this.#flow.break(true);
    if (this.#plain || this.#inLink) return () => this.#flow.break(true);
    return this.#gather((flow, text) => {
      const line = oneLine(text);
      if (line !== '') flow.mark(`${'#'.repeat(level)} ${line}`);
      flow.break(true);
    });
  }

  #emphasis(mark: string): (() => void) | undefined {
    if (this.#plain) return undefined;
    return this.#gather((flow, text, inner) => {
      if (text.includes('\n')) return flow.block(text);
      if (inner.startsWithSpace) flow.space();
      if (text !== '') flow.mark(text.includes(mark) ? text : `${mark}${text}${mark}`);
      if (inner.endsWithSpace) flow.space();
    });
  }

  #link(href: string | undefined): (() => void) | undefined {
    const target = this.#plain || this.#inLink || this.#pre > 0 ? undefined : absolute(href, this.#base);
    if (target === undefined) return undefined;
    this.#inLink = true;
    return this.#gather((flow, text, inner) => {
      this.#inLink = false;
      const label = oneLine(text).replaceAll('[', '(').replaceAll(']', ')');
      if (inner.startsWithSpace) flow.space();
      if (label !== '') flow.mark(`[${label}](${target.replaceAll('(', '%28').replaceAll(')', '%29')})`);
      if (inner.endsWithSpace) flow.space();
    });
  }

  #image(attributes: Attributes): void {
    const alt = oneLine(attributes.get('alt') ?? '');
    if (alt === '') return;
    const source = this.#plain || this.#inLink ? undefined : absolute(attributes.get('src'), this.#base);
    this.#flow.mark(source === undefined ? alt : `![${alt.replaceAll('[', '(').replaceAll(']', ')')}](${source})`);
  }

  #list(ordered: boolean, start: string | undefined): () => void {
    const blank = this.#lists.length === 0;
    this.#flow.break(blank);
    this.#lists.push({ ordered, next: /^\d{1,6}$/.test(start ?? '') ? Number(start) : 1 });
    return () => {
      this.#lists.pop();
      this.#flow.break(blank);
    };
  }

  #item(): () => void {
    const list = this.#lists.at(-1);
    const marker = list?.ordered ? `${list.next++}. ` : '- ';
    return this.#within({ first: marker, rest: ' '.repeat(marker.length) }, false);
  }

  #quote(): () => void {
    return this.#within({ rest: '> ' }, true);
  }

  #within(prefix: { first?: string; rest: string }, blank: boolean): () => void {
    const flow = this.#flow;
    flow.break(blank);
    flow.enter(prefix);
    return () => {
      flow.leave();
      flow.break(blank);
    };
  }

  #code(): () => void {
    this.#pre++;
    const finish = this.#gather((flow, text) => {
      const code = text.replace(/^\n|\s+$/g, '');
      const longest = (code.match(/`+/g) ?? []).reduce((most, ticks) => Math.max(most, ticks.length), 2);
      const fence = '`'.repeat(longest + 1);
      if (code !== '') flow.block(this.#plain ? code : `${fence}\n${code}\n${fence}`);
    });
    return () => {
      this.#pre--;
      finish();
    };
  }

  #table(): () => void {
    this.#flow.break(true);
    this.#tables.push(new TableWriter(this.#plain));
    return () => {
      this.#tables.pop()?.end(this.#flow);
      this.#flow.break(true);
    };
  }

  #cell(): () => void {
    const table = this.#tables.at(-1);
    return table === undefined ? this.#block(false) : this.#gather((_flow, text) => table.cell(text));
  }

  /** Gathers the element's text apart, and writes it at its end; where too much is gathered already, only its text goes on. */
  #gather(finish: (flow: MarkdownFlow, text: string, inner: MarkdownFlow) => void): () => void {
    if (this.#flows.length > MAX_GATHERED) {
      const flow = this.#flow;
      return () => finish(flow, '', new MarkdownFlow());
    }
    this.#flows.push(new MarkdownFlow());
    return () => {
      const inner = this.#flows.pop();
      if (inner !== undefined) finish(this.#flow, String(inner), inner);
    };
  }
}

/** An http, https or mailto address, or undefined. */
function absolute(href: string | undefined, base: string): string | undefined {
  if (href === undefined || href.startsWith('#') || !URL.canParse(href, base)) return undefined;
  const url = new URL(href, base);
  return ['http:', 'https:', 'mailto:'].includes(url.protocol) && url.username === '' && url.password === '' ? url.href : undefined;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
