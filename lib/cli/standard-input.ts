import type { CliContext } from './context.ts';
import { usageError } from './failure.ts';

/** What comes in through a pipe; `example` is a command line that gives it one. */
export async function readStandardInput({ stdin }: CliContext, example: string): Promise<Buffer> {
  if (stdin.isTTY) throw usageError(`"-" reads from a pipe: ${example}`);
  const chunks: Buffer[] = [];
  for await (const chunk of stdin) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}
