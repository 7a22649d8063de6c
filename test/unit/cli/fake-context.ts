import { EventEmitter } from 'node:events';
import { PassThrough, Writable } from 'node:stream';
import type { CliContext, Output } from '../../../lib/cli/context.ts';

/** Thrown where the real CLI would end the process. */
export class Exited extends Error {
  readonly code: number;
  constructor(code: number) {
    super(`exit ${code}`);
    this.code = code;
  }
}

export interface FakeContext extends CliContext {
  readonly stdin: PassThrough & { isTTY: boolean };
  readonly signals: EventEmitter;
  readonly out: () => string;
  readonly err: () => string;
  readonly code: () => number | undefined;
  advance(ms: number): void;
}

/** A process that is none: what it prints is text, its keyboard a stream, its clock stands until it is moved. */
export function fakeContext(over: { cwd?: string; env?: Record<string, string>; terminal?: boolean } = {}): FakeContext {
  const terminal = over.terminal ?? false;
  const stdout = capture(terminal);
  const stderr = capture(terminal);
  const signals = new EventEmitter();
  let code: number | undefined;
  let uptime = 0;
  return {
    cwd: over.cwd ?? '/nowhere',
    env: over.env ?? {},
    stdin: Object.assign(new PassThrough(), { isTTY: terminal }),
    stdout: stdout.stream,
    stderr: stderr.stream,
    signals,
    uptime: () => uptime,
    setExitCode: (value) => {
      code = value;
    },
    exitNow: (value) => {
      throw new Exited(value);
    },
    out: stdout.text,
    err: stderr.text,
    code: () => code,
    advance: (ms) => {
      uptime += ms;
    },
  };
}

function capture(terminal: boolean): { stream: Output; text: () => string } {
  let text = '';
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      text += chunk.toString();
      done();
    },
  });
  return { stream: Object.assign(stream, { isTTY: terminal, columns: 100 }), text: () => text };
}
