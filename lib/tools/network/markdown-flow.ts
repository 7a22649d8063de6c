/** A line's start: `first` once (a list marker), then `rest` (its indent), or a quote's mark on every line. */
interface Prefix {
  first?: string | undefined;
  readonly rest: string;
}

/**
 * Text that grows from left to right, as Markdown: white space collapsed, blocks parted by blank lines, every line begun with
 * the marks of the lists and quotes it is in. Never looks back at what it has written, so its cost is that of the text.
 */
export class MarkdownFlow {
  readonly #pieces: string[] = [];
  readonly #prefixes: Prefix[] = [];
  /** Line ends owed before the next text: 0, 1, or 2 for a blank line. */
  #breaks = 0;
  /** How many prefixes the blank line has that is owed: those in force all the while. */
  #blankDepth = 0;
  #space = false;
  #length = 0;

  /** Characters so far. */
  get length(): number {
    return this.#length;
  }

  /** Was there white space before the first text, or is there some after the last? For what surrounds it. */
  startsWithSpace = false;
  get endsWithSpace(): boolean {
    return this.#space;
  }

  /** The next text begins a line of its own; with `blank`, after a blank line. */
  break(blank: boolean): void {
    this.#blankDepth = this.#breaks === 0 ? this.#prefixes.length : Math.min(this.#blankDepth, this.#prefixes.length);
    this.#breaks = Math.max(this.#breaks, blank ? 2 : 1);
    this.#space = false;
  }

  /** Running text: any white space in it is one space. */
  text(text: string): void {
    for (const [index, word] of text.split(/[\t\n\f\r ]+/).entries()) {
      if (index > 0) this.space();
      if (word !== '') this.mark(word);
    }
  }

  space(): void {
    if (this.#length === 0) this.startsWithSpace = true;
    else if (this.#breaks === 0) this.#space = true;
  }

  /** Text as it is, on the line that is open. */
  mark(text: string): void {
    if (this.#breaks > 0 || this.#length === 0) this.#beginLine();
    if (this.#space) this.#write(' ');
    this.#space = false;
    this.#write(text);
  }

  /** Lines as they are, as a block. */
  block(text: string): void {
    this.break(true);
    for (const [index, line] of text.split('\n').entries()) {
      if (index > 0) this.#write(`\n${line === '' ? this.#blank(this.#prefixes.length) : this.#prefix()}`);
      if (line === '' && index > 0) continue;
      if (index === 0) this.mark(line);
      else this.#write(line);
    }
    this.break(true);
  }

  /** Until `leave`, lines begin with `rest`, the next one with `first`. */
  enter(prefix: Prefix): void {
    this.#prefixes.push({ ...prefix });
  }

  leave(): void {
    this.#prefixes.pop();
  }

  toString(): string {
    return this.#pieces.join('');
  }

  #beginLine(): void {
    if (this.#length > 0) {
      if (this.#breaks === 2) this.#write(`\n${this.#blank(this.#blankDepth)}`);
      this.#write('\n');
    }
    this.#breaks = 0;
    this.#space = false;
    this.#write(this.#prefix());
  }

  #prefix(): string {
    let prefix = '';
    for (const part of this.#prefixes) {
      prefix += part.first ?? part.rest;
      part.first = undefined;
    }
    return prefix;
  }

  /** What a blank line begins with: list markers are left to the text they belong to. */
  #blank(depth: number): string {
    const marks = this.#prefixes.slice(0, depth).map(({ rest }) => rest);
    return marks.join('').trimEnd();
  }

  #write(text: string): void {
    this.#pieces.push(text);
    this.#length += text.length;
  }
}
