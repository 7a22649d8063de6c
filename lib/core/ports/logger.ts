import { withoutMessage } from '../error-facts.ts';
import type { Json } from '../json.ts';

/** Structured log lines. No argument or result text goes here. */
export interface Logger {
  debug(message: string, fields?: { [key: string]: Json }): void;
  info(message: string, fields?: { [key: string]: Json }): void;
  warn(message: string, fields?: { [key: string]: Json }): void;
  error(message: string, error?: unknown, fields?: { [key: string]: Json }): void;
}

export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} };

const LINE = 'a tool wrote a line of its own (its text is not logged)';

/** For those whose every word may be an argument: that there was a line, and where an error was thrown, is all that is left. */
export function withoutText(logger: Logger): Logger {
  return {
    debug: () => logger.debug(LINE),
    info: () => logger.info(LINE),
    warn: () => logger.warn(LINE),
    error: (_message, error) => logger.error(LINE, error === undefined ? undefined : withoutMessage(error)),
  };
}
