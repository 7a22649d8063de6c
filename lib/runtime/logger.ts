import type { Json } from '../core/json.ts';
import type { Logger } from '../core/ports/logger.ts';

const LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LEVELS)[number];

type Fields = { readonly [key: string]: Json };

/** One JSON object a line. Arguments and results of tools never come here. `always`: fields of every line, as of that moment. */
export function jsonLogger(level: LogLevel, write: (line: string) => void, now: () => number, always: () => Fields = () => ({})): Logger {
  const log = (at: Exclude<LogLevel, 'silent'>, message: string, fields: Fields = {}, error?: unknown): void => {
    if (LEVELS.indexOf(at) < LEVELS.indexOf(level)) return;
    write(
      JSON.stringify({
        level: at,
        time: new Date(now()).toISOString(),
        message,
        ...always(),
        ...fields,
        ...(error === undefined ? {} : { error: errorFields(error) }),
      }),
    );
  };
  return {
    debug: (message, fields) => log('debug', message, fields),
    info: (message, fields) => log('info', message, fields),
    warn: (message, fields) => log('warn', message, fields),
    error: (message, error, fields) => log('error', message, fields, error),
  };
}

function errorFields(error: unknown): Json {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error && typeof error.code === 'string' ? { code: error.code } : {};
  return {
    name: error.name,
    message: error.message,
    ...code,
    stack: error.stack ?? '',
    ...(error.cause === undefined ? {} : { cause: errorFields(error.cause) }),
  };
}
