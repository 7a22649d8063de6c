import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import type { SandboxAssets } from './assets.ts';
import { OutputCut } from './output-cut.ts';
import type { RunnerLimits } from './runner-limits.ts';
import { watchMemory } from './watchdog.ts';

/** Why a child was ended before it answered. */
export type KillReason = 'deadline' | 'aborted' | 'memory' | 'output';

export interface ChildOutcome {
  /** What came on the reply descriptor; empty when the child did not get there. */
  readonly reply: Buffer;
  readonly stdout: OutputCut;
  readonly stderr: OutputCut;
  readonly killed: KillReason | undefined;
  readonly exitCode: number | null;
  readonly exitSignal: NodeJS.Signals | null;
  readonly peakBytes: number;
}

export interface ChildOptions {
  readonly assets: SandboxAssets;
  readonly entry: string;
  readonly message: readonly Uint8Array[];
  readonly limits: RunnerLimits;
  /** ms from now. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Room for the reply's header and the output that the child stops at, which it counts itself. */
const SLACK_BYTES = 8 * 1024 * 1024;

/** Runs one child to its end, whatever it does: it answers, it dies, or its whole process group is killed. Never rejects. */
export async function runChild(options: ChildOptions): Promise<ChildOutcome> {
  const { limits } = options;
  const child = start(options);
  const reply: Buffer[] = [];
  const stdout = new OutputCut(limits.keptOutputBytes);
  const stderr = new OutputCut(limits.keptOutputBytes);
  let killed: KillReason | undefined;
  const kill = (reason: KillReason): void => {
    killed ??= reason;
    killGroup(child);
  };
  let replied = 0;
  child.stdout?.on('data', (chunk: Buffer) => stdout.push(chunk));
  child.stderr?.on('data', (chunk: Buffer) => stderr.push(chunk));
  (child.stdio[3] as Readable | null)?.on('data', (chunk: Buffer) => {
    reply.push(chunk);
    replied += chunk.length;
  });
  // All has been said: what was printed lies in the pipes, written before the reply.
  child.stdio[3]?.once('end', () => killGroup(child));
  for (const stream of child.stdio) {
    stream?.on('data', () => {
      if (stdout.total + stderr.total > 2 * limits.outputBytes + SLACK_BYTES || replied > limits.fileSystemBytes + SLACK_BYTES)
        kill('output');
    });
    // A child that dies early breaks the pipes; its end tells more than the pipe's error.
    stream?.on('error', () => {});
  }
  const timer = setTimeout(() => kill('deadline'), Math.max(0, options.timeoutMs));
  const onAbort = (): void => kill('aborted');
  options.signal.addEventListener('abort', onAbort);
  // It may have come while the session's files were read.
  if (options.signal.aborted) onAbort();
  const watchdog = child.pid === undefined ? undefined : watchMemory(child.pid, limits.memoryBytes, () => kill('memory'));
  for (const chunk of options.message) child.stdin?.write(chunk);
  child.stdin?.end();
  const [exitCode, exitSignal] = await ended(child);
  clearTimeout(timer);
  options.signal.removeEventListener('abort', onAbort);
  watchdog?.stop();
  return { reply: Buffer.concat(reply), stdout, stderr, killed, exitCode, exitSignal, peakBytes: watchdog?.peakBytes ?? 0 };
}

/** Backstops behind the watchdog and the deadline, kept by the kernel even when the parent dies. KB, 512-byte blocks, s. */
const ULIMITS = (cpuSeconds: number): string =>
  `ulimit -c 0; ulimit -f 0; ulimit -n 64; ulimit -t ${cpuSeconds}; ulimit -v 4000000 2>/dev/null; exec "$@"`;

function start({ assets, entry, timeoutMs }: ChildOptions): ChildProcess {
  const cpuSeconds = 2 * Math.ceil(timeoutMs / 1000) + 5;
  const node = [
    process.execPath,
    '--permission',
    ...assets.readable.map((path) => `--allow-fs-read=${path}`),
    // ATTACH would write outside what is allowed.
    '--no-experimental-sqlite',
    '--no-addons',
    '--no-warnings',
    '--max-old-space-size=512',
    // Compiling hot WebAssembly anew while CPython starts costs more than it gains; later it pays.
    '--wasm-tiering-budget=2147483647',
    `--import=${assets.guard}`,
    entry,
  ];
  return spawn('/bin/sh', ['-c', ULIMITS(cpuSeconds), 'sh', ...node], {
    cwd: '/',
    env: childEnvironment(),
    stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
    // A process group of its own, so that one signal ends all of it.
    detached: true,
  });
}

/** Nothing of ours: no credentials, no NODE_OPTIONS. The library path is how Lambda's Node finds its own libraries. */
function childEnvironment(): Record<string, string> {
  const libraries = process.env['LD_LIBRARY_PATH'];
  return { PATH: '/usr/bin:/bin', LANG: 'C.UTF-8', TZ: 'UTC', ...(libraries === undefined ? {} : { LD_LIBRARY_PATH: libraries }) };
}

function ended(child: ChildProcess): Promise<[number | null, NodeJS.Signals | null]> {
  return new Promise((resolve) => {
    child.once('error', () => resolve([null, null]));
    // Whatever the child may have started holds the pipes open until it is gone too.
    child.once('exit', () => killGroup(child));
    child.once('close', (code, signal) => resolve([code, signal]));
  });
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // Gone already.
  }
}
