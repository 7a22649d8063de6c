import type { MarkdownFlow } from './markdown-flow.ts';

/**
 * A table, row by row. Rows of several cells in one line each become a Markdown table; anything else is a table for the sake
 * of layout, and its cells are written one below the other.
 */
export class TableWriter {
  readonly #plain: boolean;
  #cells: string[] = [];
  #headed = false;

  constructor(plain: boolean) {
    this.#plain = plain;
  }

  cell(text: string): void {
    this.#cells.push(text);
  }

  /** A row begins: the one before it is written. */
  row(flow: MarkdownFlow): void {
    const cells = this.#cells;
    this.#cells = [];
    if (cells.every((cell) => cell === '')) return;
    if (cells.length < 2 || cells.some((cell) => cell.includes('\n'))) {
      this.#headed = false;
      for (const cell of cells) if (cell !== '') flow.block(cell);
      return;
    }
    flow.break(!this.#headed);
    flow.mark(this.#plain ? cells.join(' | ') : `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`);
    if (!this.#headed && !this.#plain) {
      flow.break(false);
      flow.mark(`| ${cells.map(() => '---').join(' | ')} |`);
    }
    this.#headed = true;
  }

  end(flow: MarkdownFlow): void {
    this.row(flow);
  }
}
