import { spawn } from 'node:child_process';
import { mkdir, open } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import { HandrailError } from '../core/errors.ts';
import { installMinistack } from './emulator-install.ts';

type EmulatorKind = 'ministack' | 'localstack';

export interface Emulator {
  readonly kind: EmulatorKind;
  /** Such as `http://127.0.0.1:4566`; every service of the emulator. */
  readonly endpoint: string;
  readonly port: number;
  /** True for a MiniStack that this call started. */
  readonly started: boolean;
}

export interface EmulatorOptions {
  /** The project: MiniStack is installed below it, and finds Node in it. */
  readonly root: string;
  /** @default 4566 */
  readonly port?: number;
  readonly say?: (line: string) => void;
}

export const EMULATOR_PORT = 4566;
const START_MS = 60_000;
const PROBE_MS = 2_000;

const healthSchema = z.object({ services: z.record(z.string(), z.string()), edition: z.string().optional() });

/**
 * The emulator on the port, or a MiniStack that is started there. It goes on after this process ends, until
 * `stopMinistack`. HandrailError SERVICE_UNAVAILABLE when none can be started or the port is something else's.
 */
export async function startEmulator(options: EmulatorOptions): Promise<Emulator> {
  const { root, port = EMULATOR_PORT, say = () => undefined } = options;
  const found = await findEmulator(port);
  if (found !== undefined) return found;
  if (await isTaken(port)) {
    throw new HandrailError(
      'SERVICE_UNAVAILABLE',
      `Port ${port} is used by something that is not an emulator. Stop it, or choose another with --port.`,
    );
  }
  const command = await installMinistack(root, say);
  const log = join(root, '.handrail', 'emulator.log');
  await mkdir(join(root, '.handrail'), { recursive: true, mode: 0o700 });
  const output = await open(log, 'w', 0o600);
  const child = spawn(command, [], {
    cwd: root,
    env: ministackEnvironment(root, port),
    detached: true,
    stdio: ['ignore', output.fd, output.fd],
  });
  await output.close();
  let ended = false;
  child.on('error', () => {
    ended = true;
  });
  child.on('exit', () => {
    ended = true;
  });
  child.unref();
  say(`Starting MiniStack on port ${port} (log: ${log})`);
  for (const end = Date.now() + START_MS; Date.now() < end && !ended; await sleep(100)) {
    const started = await findEmulator(port);
    if (started !== undefined) return { ...started, started: true };
  }
  throw new HandrailError('SERVICE_UNAVAILABLE', `MiniStack did not start on port ${port}; its log is ${log}`);
}

/** The emulator that answers on the port, if one does. */
export async function findEmulator(port: number): Promise<Emulator | undefined> {
  const endpoint = `http://127.0.0.1:${port}`;
  const [ministack, localstack] = await Promise.all([health(`${endpoint}/_ministack/health`), health(`${endpoint}/_localstack/health`)]);
  if (ministack !== undefined) return { kind: 'ministack', endpoint, port, started: false };
  if (localstack === undefined) return undefined;
  if (localstack.edition === 'community') {
    throw new HandrailError(
      'SERVICE_UNAVAILABLE',
      `The LocalStack on port ${port} is the community edition, which has no HTTP APIs (apigatewayv2). Use one with a licence (docker-compose.yml), or stop it: MiniStack is then started instead.`,
    );
  }
  return { kind: 'localstack', endpoint, port, started: false };
}

/** Nothing of our own environment but the path: functions inherit what the emulator has, and must not see keys. */
function ministackEnvironment(root: string, port: number): NodeJS.ProcessEnv {
  const { PATH = '', HOME, TMPDIR, LANG } = process.env;
  return {
    ...(HOME === undefined ? {} : { HOME }),
    ...(TMPDIR === undefined ? {} : { TMPDIR }),
    ...(LANG === undefined ? {} : { LANG }),
    // It runs functions with the `node` it finds first: the project's, which is the version deployed.
    PATH: `${join(root, 'node_modules', '.bin')}:${PATH}`,
    GATEWAY_PORT: String(port),
    BIND_HOST: '127.0.0.1',
  };
}

function isTaken(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

async function health(url: string): Promise<z.infer<typeof healthSchema> | undefined> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(PROBE_MS) });
    return response.ok ? healthSchema.safeParse(await response.json()).data : undefined;
  } catch {
    return undefined;
  }
}
