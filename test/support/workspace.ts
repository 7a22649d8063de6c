import { randomBytes } from 'node:crypto';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createWorkspaces } from '../../lib/adapters/sandbox/workspace.ts';
import type { Random } from '../../lib/core/ports/clock.ts';
import type { Workspace, Workspaces } from '../../lib/core/ports/workspace.ts';

export const random: Random = { bytes: (count) => randomBytes(count), number: () => 0.5 };

/** A directory of its own, removed when the test is over. */
export async function freshDirectory(): Promise<string> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), 'handrail-test-')));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

export async function readText(workspace: Workspace, path: string): Promise<string> {
  return Buffer.from(await workspace.read(path)).toString();
}

export const text = (value: string): Uint8Array => Buffer.from(value);

/** Workspaces in a directory of their own; `host` is where the one of `toolContext()` lies. */
export async function givenWorkspaces(): Promise<{ workspaces: Workspaces; host: string }> {
  const root = await freshDirectory();
  return { workspaces: await createWorkspaces({ root, random, now: () => Date.now() }), host: join(root, 'acme/s1') };
}
