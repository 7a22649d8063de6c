import type { Readable, Writable } from 'node:stream';

export interface Output extends Writable {
  readonly isTTY?: boolean;
  readonly columns?: number;
}
interface Input extends Readable {
  readonly isTTY?: boolean;
}

/** How the shell stops a command; `process` is one. */
interface Signals {
  on(signal: 'SIGINT' | 'SIGTERM', listener: () => void): unknown;
  off(signal: 'SIGINT' | 'SIGTERM', listener: () => void): unknown;
  emit(signal: 'SIGINT'): unknown;
}

/** Everything the CLI touches of the process it runs in, so that tests can give it another. */
export interface CliContext {
  readonly cwd: string;
  /** Changed by `.env` alone: the AWS SDK reads its credentials from the process's own environment. */
  readonly env: Record<string, string | undefined>;
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly signals: Signals;
  /** ms since some moment; never goes back. */
  uptime(): number;
  setExitCode(code: number): void;
  exitNow(code: number): never;
}

/** A handle that something forgot must not keep a finished command from ending. */
const LINGER_MS = 2_000;

export function processContext(): CliContext {
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      // The reader has seen enough: `handrail runs | head -1`.
      if (error.code === 'EPIPE') process.exit();
      throw error;
    });
  return {
    cwd: process.cwd(),
    env: process.env,
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    signals: process,
    uptime: () => performance.now(),
    setExitCode(code) {
      process.exitCode = code;
      setTimeout(() => process.exit(), LINGER_MS).unref();
    },
    exitNow: (code) => process.exit(code),
  };
}
