import { createInterface } from 'node:readline';
import type { CliContext } from './context.ts';

/** Lines that can be called back with the arrow keys. */
const HISTORY = 200;

/**
 * What the person at the terminal types, line by line; several lines that are pasted at once are one. Ctrl-C empties the line,
 * Ctrl-D on an empty one ends, as `signal` does. Between two lines nothing is read.
 */
export async function* typedLines(context: CliContext, prompt: string, signal: AbortSignal): AsyncGenerator<string> {
  let history: string[] = [];
  for (;;) {
    const line = await readTyped(context, prompt, history, signal);
    if (line === undefined) return;
    history = [line, ...history].slice(0, HISTORY);
    yield line;
  }
}

async function readTyped(
  { stdin, stderr }: CliContext,
  prompt: string,
  history: readonly string[],
  signal: AbortSignal,
): Promise<string | undefined> {
  if (signal.aborted) return undefined;
  const reader = createInterface({ input: stdin, output: stderr, terminal: true, prompt, history: [...history], historySize: HISTORY });
  const done = new AbortController();
  const lines: string[] = [];
  try {
    return await new Promise((resolve) => {
      reader.on('line', (line) => {
        lines.push(line);
        if (lines.length === 1) setImmediate(() => resolve(lines.join('\n')));
      });
      reader.on('close', () => resolve(undefined));
      reader.on('SIGINT', () => {
        reader.write(null, { ctrl: true, name: 'e' });
        reader.write(null, { ctrl: true, name: 'u' });
      });
      signal.addEventListener('abort', () => resolve(undefined), { signal: done.signal });
      reader.prompt();
    });
  } finally {
    done.abort();
    reader.close();
    stdin.pause();
  }
}

/** The lines of a pipe or a file. */
export function pipedLines({ stdin }: CliContext, signal: AbortSignal): AsyncIterable<string> {
  return createInterface({ input: stdin, crlfDelay: Number.POSITIVE_INFINITY, signal });
}
