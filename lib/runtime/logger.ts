import { errorFacts } from '../core/error-facts.ts';
import { HandrailError } from '../core/errors.ts';
import type { Json } from '../core/json.ts';
import type { Logger } from '../core/ports/logger.ts';
import { maskJson } from '../core/preview.ts';

const LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LEVELS)[number];

type Fields = { readonly [key: string]: Json };

export interface LoggerOptions {
  readonly level: LogLevel;
  /** Log what every error says. */
  readonly text: boolean;
  /** Takes a line without its end. */
  write(line: string): void;
  /** ms since 1970. */
  now(): number;
  /** Fields of every line, as of that moment. */
  always(): Fields;
}

/** One JSON object a line, secrets masked. Arguments and results of tools never come here. */
export function jsonLogger({ level, text, write, now, always }: LoggerOptions): Logger {
  const log = (at: Exclude<LogLevel, 'silent'>, message: string, fields: Fields = {}, error?: unknown): void => {
    if (LEVELS.indexOf(at) < LEVELS.indexOf(level)) return;
    const line: { [key: string]: Json } = {
      level: at,
      time: new Date(now()).toISOString(),
      message,
      ...always(),
      ...fields,
      ...(error === undefined ? {} : { error: errorFields(error, text) }),
    };
    write(JSON.stringify(maskJson(line)));
  };
  return {
    debug: (message, fields) => log('debug', message, fields),
    info: (message, fields) => log('info', message, fields),
    warn: (message, fields) => log('warn', message, fields),
    error: (message, error, fields) => log('error', message, fields, error),
  };
}

function errorFields(error: unknown, text: boolean): Json {
  const { cause } = error instanceof Error ? error : {};
  return {
    ...errorFacts(error),
    ...(text || isOfServices(error) ? { message: error instanceof Error ? error.message : String(error) } : {}),
    ...(cause === undefined ? {} : { cause: errorFields(cause, text) }),
  };
}

/** An error of ours, of AWS, of the system, or of a program's own fault: these speak of services and code, others may quote a text. */
function isOfServices(error: unknown): boolean {
  return (
    error instanceof HandrailError ||
    error instanceof TypeError ||
    error instanceof RangeError ||
    error instanceof ReferenceError ||
    (error instanceof Error && ('$metadata' in error || 'syscall' in error))
  );
}
