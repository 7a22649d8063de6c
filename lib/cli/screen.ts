import { styleText } from 'node:util';
import type { Output } from './context.ts';

export type Style = Readonly<Record<'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan', (text: string) => string>>;

/** What people read while a command works: lines, and on a terminal a last line that moves. */
export interface Screen {
  readonly terminal: boolean;
  readonly style: Style;
  line(text?: string): void;
  /** What the moving line says, asked for again and again; undefined takes it away. Nothing off a terminal. */
  status(text: (() => string) | undefined): void;
}

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const FRAME_MS = 100;
const CLEAR = '\r\u001b[2K';

/** Colours and movement only where a person looks: on a terminal, without `NO_COLOR` (colours) and not `TERM=dumb`. */
export function createScreen(stream: Output, env: Readonly<Record<string, string | undefined>>): Screen {
  const terminal = stream.isTTY === true && env['TERM'] !== 'dumb';
  let status: (() => string) | undefined;
  let timer: NodeJS.Timeout | undefined;
  let frame = 0;
  let shown = false;

  const clear = () => {
    if (shown) stream.write(CLEAR);
    shown = false;
  };
  const draw = () => {
    if (!status) return;
    const text = `${FRAMES[frame++ % FRAMES.length]} ${status()}`;
    stream.write(`${CLEAR}${text.slice(0, (stream.columns || 80) - 1)}`);
    shown = true;
  };
  return {
    terminal,
    style: styleOf(terminal && !env['NO_COLOR']),
    line(text = '') {
      clear();
      stream.write(`${text}\n`);
      if (status) draw();
    },
    status(text) {
      if (!terminal) return;
      status = text;
      clearInterval(timer);
      timer = text && setInterval(draw, FRAME_MS).unref();
      if (text) draw();
      else clear();
    },
  };
}

function styleOf(coloured: boolean): Style {
  const paint = (format: keyof Style) => (text: string) => (coloured ? styleText(format, text, { validateStream: false }) : text);
  return {
    bold: paint('bold'),
    dim: paint('dim'),
    red: paint('red'),
    green: paint('green'),
    yellow: paint('yellow'),
    cyan: paint('cyan'),
  };
}
