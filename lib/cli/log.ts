import { HandrailError } from '../core/errors.ts';
import type { Json } from '../core/json.ts';
import type { Logger } from '../core/ports/logger.ts';
import { maskSecrets } from '../core/preview.ts';
import { visible } from './display-text.ts';
import type { Screen } from './screen.ts';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** The log of a laptop's server: one line per entry on stderr, with the stack of what nobody foresaw. */
export function screenLogger(screen: Screen, level: LogLevel): Logger {
  const log = (at: LogLevel, message: string, fields: { [key: string]: Json } = {}): void => {
    if (LOG_LEVELS.indexOf(at) < LOG_LEVELS.indexOf(level)) return;
    const facts = Object.entries(fields).map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
    screen.line(visible(maskSecrets([new Date().toISOString(), at.toUpperCase(), message, ...facts].join(' '))));
  };
  return {
    debug: (message, fields) => log('debug', message, fields),
    info: (message, fields) => log('info', message, fields),
    warn: (message, fields) => log('warn', message, fields),
    error(message, error, fields) {
      log('error', error === undefined ? message : `${message}: ${describe(error)}`, fields);
    },
  };
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const own =
    error instanceof HandrailError && error.code !== 'INTERNAL' ? `${error.code} ${error.message}` : (error.stack ?? error.message);
  return error.cause === undefined ? own : `${own}\n  because of ${describe(error.cause)}`;
}
