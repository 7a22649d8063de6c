import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { watchMemory } from '../sandbox/watchdog.ts';
import { type FromChild, fromChildSchema, type ToChild } from './pipe.ts';

export interface SkillChildOptions {
  /** Folder of the skill: all that its process may read besides installed packages and ours that starts it. */
  readonly folder: string;
  readonly run: Extract<ToChild, { type: 'run' }>;
  /** Kills the process; it is told before. */
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** What the child says but its end. */
  onMessage(message: FromChild, reply: (message: ToChild) => void): void;
}

export type SkillChildEnd = Extract<FromChild, { type: 'done' | 'failed' }> | { readonly type: 'died'; readonly why: string };

const MEMORY_BYTES = 512 * 1024 * 1024;
/** Bytes of a result that is still taken; it is cut to the call's budget later. */
const RESULT_CHARACTERS = 8 * 1024 * 1024;
/** ms a process has to end after it was told to. */
const GRACE_MS = 300;
/** Messages of one call. A handler that asks more often is in a loop. */
const MAX_MESSAGES = 100_000;

/** Runs one call in a process of its own, to its end. Never rejects; nothing of it is left behind. */
export async function runSkillChild(options: SkillChildOptions): Promise<SkillChildEnd> {
  const child = start(options);
  const end = Promise.withResolvers<SkillChildEnd>();
  const die = (why: string): void => end.resolve({ type: 'died', why });
  let messages = 0;
  child.on('message', (raw: unknown) => {
    const message = fromChildSchema.safeParse(raw);
    if (++messages > MAX_MESSAGES) die('it asked for more than is sensible');
    else if (!message.success) die('it sent what is no message');
    else if (message.data.type === 'done' && (message.data.value?.length ?? 0) > RESULT_CHARACTERS) die('its result is far too large');
    else if (message.data.type === 'done' || message.data.type === 'failed') end.resolve(message.data);
    else options.onMessage(message.data, (reply) => void (child.connected && child.send(reply)));
  });
  child.once('error', (error) => die(`it could not be started (${error.message})`));
  child.once('exit', (code, signal) => die(signal === null ? `it ended by itself with code ${code}` : `it was ended by ${signal}`));
  const watchdog =
    child.pid === undefined ? undefined : watchMemory(child.pid, MEMORY_BYTES, () => die('it used more than 512 MB of memory'));
  const abort = (): void => {
    if (child.connected) child.send({ type: 'abort', reason: 'the call was given up' } satisfies ToChild);
    setTimeout(() => die('it did not end when it was told to'), GRACE_MS);
  };
  options.signal.addEventListener('abort', abort, { once: true });
  if (options.signal.aborted) abort();
  child.send(options.run);
  try {
    return await end.promise;
  } finally {
    options.signal.removeEventListener('abort', abort);
    watchdog?.stop();
    killGroup(child);
  }
}

/** Behind the deadline and the watchdog, kept by the kernel even when the parent dies. Its files are the parent's to write. */
const ULIMITS = (cpuSeconds: number): string =>
  `ulimit -c 0; ulimit -f 0; ulimit -n 256; ulimit -t ${cpuSeconds}; ulimit -v 8000000 2>/dev/null; exec "$@"`;

function start({ folder, timeoutMs }: SkillChildOptions): ChildProcess {
  const here = realpathSync(dirname(fileURLToPath(import.meta.url)));
  const guard = join(here, '..', 'sandbox', 'guard.ts');
  const exported = join(here, '..', '..', 'core', 'skills', 'exported-handler.ts');
  const readable = [here, guard, exported, realpathSync(folder), ...packagesAbove(realpathSync(folder))];
  const node = [
    process.execPath,
    '--permission',
    ...readable.map((path) => `--allow-fs-read=${path}`),
    '--no-experimental-sqlite',
    '--no-addons',
    '--no-warnings',
    `--import=${guard}`,
    join(here, 'child-main.ts'),
  ];
  return spawn('/bin/sh', ['-c', ULIMITS(2 * Math.ceil(timeoutMs / 1000) + 5), 'sh', ...node], {
    cwd: '/',
    env: { PATH: '/usr/bin:/bin', LANG: 'C.UTF-8', TZ: 'UTC' },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    serialization: 'advanced',
    // A group of its own, so that one signal ends all of it.
    detached: true,
  });
}

/** Installed packages that the skill's code can import. */
function packagesAbove(folder: string): string[] {
  const found: string[] = [];
  for (let directory = folder; directory !== dirname(directory); directory = dirname(directory)) {
    const packages = join(directory, 'node_modules');
    // Where it is a link, Node looks at both.
    if (existsSync(packages)) found.push(packages, realpathSync(packages));
  }
  return found;
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // Gone already.
  }
}
