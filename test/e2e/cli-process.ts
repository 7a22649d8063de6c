import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../../lib/cli/main.ts', import.meta.url));

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface CliProcess {
  readonly child: ChildProcess;
  /** Both streams so far. */
  text(): string;
  /** Resolves once the output has it. */
  says(pattern: RegExp): Promise<RegExpExecArray>;
  readonly ended: Promise<Ended>;
}

/** Nothing of the test's own environment but the path, so that no key of the machine chooses a model. */
const environment = (env: Record<string, string>) => ({ PATH: process.env['PATH'] ?? '', HANDRAIL_MODEL: 'demo', ...env });

/** `handrail <args>` as a process of its own in the directory `cwd`, without a terminal. */
export function startCli(cwd: string, args: readonly string[], env: Record<string, string> = {}): CliProcess {
  return watch(spawn(process.execPath, [MAIN, ...args], { cwd, env: environment(env), stdio: ['ignore', 'pipe', 'pipe'] }));
}

/** The same with a pipe as its input, which has `input` and ends. */
export function startCliWith(input: string, cwd: string, args: readonly string[]): CliProcess {
  const child = spawn(process.execPath, [MAIN, ...args], { cwd, env: environment({}), stdio: 'pipe' });
  child.stdin.end(input);
  return watch(child);
}

/** Runs a pseudo-terminal of 100 columns: its screen is our stdout, our stdin its keyboard. */
const PTY = `
import fcntl, os, pty, select, struct, sys, termios
pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack('HHHH', 40, 100, 0, 0))
while True:
    ready, _, _ = select.select([fd, 0], [], [])
    if fd in ready:
        try:
            data = os.read(fd, 65536)
        except OSError:
            data = b''
        if not data:
            break
        os.write(1, data)
    if 0 in ready:
        os.write(fd, os.read(0, 1024))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
`;

/** Node cannot open a pseudo-terminal; Python's standard library can. */
export const hasPty = spawnSync('python3', ['-c', 'import pty, termios']).status === 0;

/** The same on a terminal. What is written to `child.stdin` is typed. */
export function startOnTerminal(cwd: string, args: readonly string[]): CliProcess {
  return watch(spawn('python3', ['-c', PTY, process.execPath, MAIN, ...args], { cwd, env: environment({ TERM: 'xterm' }), stdio: 'pipe' }));
}

function watch(child: ChildProcess): CliProcess {
  let out = '';
  let err = '';
  const waiting = new Set<() => void>();
  const note = () => {
    for (const look of waiting) look();
  };
  child.stdout?.on('data', (chunk: Buffer) => {
    out += chunk.toString();
    note();
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    err += chunk.toString();
    note();
  });
  const text = () => out + err;
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, out, err }));
  });
  return {
    child,
    text,
    ended,
    says: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const found = pattern.exec(text());
          if (!found) return;
          waiting.delete(look);
          resolve(found);
        };
        waiting.add(look);
        look();
        ended.then(() => reject(new Error(`it ended without ${pattern}:\n${text()}`)), reject);
      }),
  };
}
