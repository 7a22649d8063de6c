import type { CliContext } from './context.ts';

/** One JSON value on stdout: laid out for a person, on one line for a program. */
export function printJson({ stdout }: CliContext, value: unknown): void {
  stdout.write(`${JSON.stringify(value, null, stdout.isTTY ? 2 : undefined)}\n`);
}
