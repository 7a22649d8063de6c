import { CommanderError } from 'commander';
import type * as z from 'zod';
import { HandrailError } from '../core/errors.ts';
import type { CliContext } from './context.ts';
import { visible } from './display-text.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import type { Screen } from './screen.ts';

/** The command line or the environment is wrong: exit code 2. */
export function usageError(message: string): CommanderError {
  return new CommanderError(EXIT.usage, 'handrail.usage', message);
}

/** Ctrl-C, or the shell's wish to end: exit code 130. Carries what becomes of the work. */
export class Interrupted extends CommanderError {
  constructor(message: string) {
    super(EXIT.interrupted, 'handrail.interrupted', message);
  }
}

/** The options of a command, checked; a usage error names the option as it is typed. */
export function parseOptions<Schema extends z.ZodType>(schema: Schema, options: unknown): z.output<Schema> {
  const parsed = schema.safeParse(options);
  if (parsed.success) return parsed.data;
  const lines = parsed.error.issues.map(({ path, message }) => `${path.map((part) => optionName(String(part))).join(' ')}: ${message}`);
  throw usageError(lines.join('\n'));
}

const optionName = (name: string): string => `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** Says why a command ended early: one JSON object on stdout with `json`, else lines for people. Gives the exit code. */
export function reportFailure(error: unknown, context: CliContext, screen: Screen, json: boolean): ExitCode {
  screen.status(undefined);
  const code = error instanceof Interrupted ? EXIT.interrupted : error instanceof CommanderError ? EXIT.usage : EXIT.failed;
  if (json) {
    context.stdout.write(`${JSON.stringify({ error: asJson(error) })}\n`);
    return code;
  }
  const { bold, red, dim } = screen.style;
  const known = error instanceof HandrailError || error instanceof CommanderError;
  const message = error instanceof Error ? error.message : String(error);
  screen.line(error instanceof Interrupted ? visible(message) : `${bold(red('error:'))} ${visible(message)}`);
  if (error instanceof HandrailError) {
    if (error.field !== undefined && !message.includes(error.field)) screen.line(`  in ${visible(error.field)}`);
    for (const suggestion of error.suggestions) screen.line(`  ${visible(suggestion)}`);
  }
  if (!known && error instanceof Error && error.stack) screen.line(dim(visible(error.stack.split('\n').slice(1).join('\n'))));
  return code;
}

function asJson(error: unknown): Record<string, unknown> {
  if (!(error instanceof HandrailError))
    return {
      code: error instanceof CommanderError ? error.code : 'INTERNAL',
      message: error instanceof Error ? error.message : String(error),
    };
  return {
    ...error.extra,
    code: error.code,
    message: error.message,
    ...(error.field === undefined ? {} : { field: error.field }),
    ...(error.suggestions.length === 0 ? {} : { suggestions: error.suggestions }),
  };
}
