import { createInterface } from 'node:readline/promises';
import type { Readable, Writable } from 'node:stream';
import type { Terminal } from '../core/guard/approvals/default-confirm.ts';

/** The terminal of a process, for `defaultConfirm`. A keyboard that ends gives no answer, which rejects. */
export function nodeTerminal(input: Readable & { isTTY?: boolean }, output: Writable & { isTTY?: boolean }): Terminal {
  return {
    interactive: input.isTTY === true && output.isTTY === true,
    async ask(question) {
      const reader = createInterface({ input, output });
      const ended = new Promise<string>((resolve) => reader.once('close', () => resolve('')));
      try {
        return await Promise.race([reader.question(question), ended]);
      } finally {
        reader.close();
      }
    },
  };
}
