import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ClassicLevel } from 'classic-level';
import * as z from 'zod';
import { HandrailError } from '../core/errors.ts';

/** `server.json` in the data directory, mode 0600: how the CLI finds the server that owns it. */
export const serverFileSchema = z.object({ url: z.url(), secret: z.string().min(16), pid: z.int() });
export type ServerFile = z.infer<typeof serverFileSchema>;

const FILE = 'server.json';
const LOCK = 'lock';
const PUBLISH_WAIT_MS = 3_000;
const PROBE_MS = 2_000;

/** The right to a data directory: one process at a time. */
export interface Claim {
  publish(file: ServerFile): Promise<void>;
  release(): Promise<void>;
}

/**
 * Claims `directory` for this process. The lock is LevelDB's, the operating system's own: it goes with the process,
 * however that ends. Errors: CONFLICT with the owner's address.
 */
export async function claimDirectory(directory: string): Promise<Claim> {
  const lock = new ClassicLevel(join(directory, LOCK));
  try {
    await lock.open();
  } catch (cause) {
    const owner = await ownerOf(directory);
    const where = owner ? `the server at ${owner.url} (process ${owner.pid})` : 'another process';
    throw new HandrailError(
      'CONFLICT',
      `${directory} is in use by ${where}; use that one, stop it, or choose another directory with HANDRAIL_HOME`,
      { cause },
    );
  }
  const path = join(directory, FILE);
  await rm(path, { force: true });
  return {
    async publish(file) {
      const fresh = `${path}.${file.pid}`;
      await writeFile(fresh, `${JSON.stringify(file, null, 2)}\n`, { mode: 0o600 });
      await rename(fresh, path);
    },
    async release() {
      await rm(path, { force: true });
      await lock.close();
    },
  };
}

/** The server that owns `directory` and answers; undefined when there is none. */
export async function findServer(directory: string): Promise<ServerFile | undefined> {
  const file = await readServerFile(directory);
  if (!file) return undefined;
  try {
    const response = await fetch(`${file.url}/runs?limit=1`, {
      headers: { authorization: `Bearer ${file.secret}` },
      signal: AbortSignal.timeout(PROBE_MS),
    });
    return response.ok ? file : undefined;
  } catch {
    return undefined;
  }
}

/** Whoever holds the lock may still be starting. */
async function ownerOf(directory: string): Promise<ServerFile | undefined> {
  for (let waited = 0; waited < PUBLISH_WAIT_MS; waited += 100) {
    const file = await readServerFile(directory);
    if (file) return file;
    await pause(100);
  }
  return undefined;
}

async function readServerFile(directory: string): Promise<ServerFile | undefined> {
  try {
    return serverFileSchema.parse(JSON.parse(await readFile(join(directory, FILE), 'utf8')));
  } catch {
    return undefined;
  }
}
