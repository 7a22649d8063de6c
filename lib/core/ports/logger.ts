import type { Json } from '../json.ts';

/** Structured log lines. No argument or result text goes here. */
export interface Logger {
  debug(message: string, fields?: { [key: string]: Json }): void;
  info(message: string, fields?: { [key: string]: Json }): void;
  warn(message: string, fields?: { [key: string]: Json }): void;
  error(message: string, error?: unknown, fields?: { [key: string]: Json }): void;
}

export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} };
