import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { HandrailError } from '../core/errors.ts';

/**
 * MiniStack, an emulator on PyPI that runs Node functions without Docker, and all it needs, each at the version it is tested
 * with; `cryptography` is how it checks tokens.
 */
const REQUIREMENTS = fileURLToPath(new URL('emulator-requirements.txt', import.meta.url));

/** MiniStack is written for this. */
const PYTHON = '3.10';
/** One environment per list of versions, so that an update does not mix two. */
async function environmentDirectory(root: string): Promise<string> {
  const list = createHash('sha256').update(await readFile(REQUIREMENTS));
  return join(root, '.venv', `ministack-${list.digest('hex').slice(0, 12)}`);
}

/**
 * The `ministack` command, installed once into a Python environment of its own under `.venv/` of the project, with every
 * dependency at a known version. HandrailError SERVICE_UNAVAILABLE says what is missing.
 */
export async function installMinistack(root: string, say: (line: string) => void): Promise<string> {
  const directory = await environmentDirectory(root);
  const command = join(directory, 'bin', 'ministack');
  const complete = join(directory, 'complete');
  if (existsSync(complete)) return command;
  say(`Installing MiniStack into ${directory} (once)`);
  const python = await findPython();
  await runOrExplain(
    python,
    ['-m', 'venv', '--clear', directory],
    'Python could not make a virtual environment; on Debian and Ubuntu install python3-venv',
  );
  const install = ['install', '--quiet', '--disable-pip-version-check', '--requirement', REQUIREMENTS];
  await runOrExplain(join(directory, 'bin', 'pip'), install, 'MiniStack could not be installed from PyPI');
  // Last, so that an installation that was cut short is made again.
  await writeFile(complete, '');
  return command;
}

/** Ends the MiniStack on a port, with its functions. False when none of this project's was started there. */
export async function stopMinistack(root: string, port: number): Promise<boolean> {
  const command = join(await environmentDirectory(root), 'bin', 'ministack');
  if (!existsSync(command)) return false;
  const { code } = await run(command, ['--stop'], { env: { ...process.env, GATEWAY_PORT: String(port) } });
  return code === 0;
}

async function findPython(): Promise<string> {
  const enough = `import sys; sys.exit(0 if sys.version_info >= (${PYTHON.replace('.', ',')}) else 1)`;
  for (const name of ['python3', 'python']) {
    if ((await run(name, ['-c', enough]).catch(() => undefined))?.code === 0) return name;
  }
  throw new HandrailError(
    'SERVICE_UNAVAILABLE',
    `The emulator needs Python ${PYTHON} or later, or a running LocalStack (docker compose up).`,
  );
}

async function runOrExplain(command: string, args: readonly string[], problem: string): Promise<void> {
  const { code, output } = await run(command, args);
  if (code !== 0) throw new HandrailError('SERVICE_UNAVAILABLE', `${problem}:\n${output.slice(-2_000)}`);
}

/** Runs a command to its end. Rejects when it cannot be started. */
export function run(
  command: string,
  args: readonly string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<{ code: number; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const add = (chunk: Buffer) => {
      output += chunk.toString();
    };
    child.stdout.on('data', add);
    child.stderr.on('data', add);
    child.on('error', reject);
    child.on('close', (code) => resolve({ code: code ?? 1, output }));
  });
}
