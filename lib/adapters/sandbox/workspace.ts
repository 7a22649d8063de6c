import { mkdir, realpath } from 'node:fs/promises';
import { HandrailError } from '../../core/errors.ts';
import { sessionIdSchema, tenantSchema } from '../../core/ids.ts';
import { FILE_BYTES } from '../../core/limits.ts';
import type { Random } from '../../core/ports/clock.ts';
import type { Workspace, WorkspaceEntry, Workspaces } from '../../core/ports/workspace.ts';
import { type Access, bestAccess, type Directory, openDirectory } from './workspace-directory.ts';
import { errorCode, refusal, workspaceError } from './workspace-errors.ts';
import { entriesIn, inspectFile, readRegularFile, removeEntry, replaceFile, tooLarge } from './workspace-files.ts';
import { parsePath, shownPath, type WorkspacePath } from './workspace-path.ts';
import { measureUsage, Quota } from './workspace-quota.ts';
import { Turns } from './workspace-turns.ts';

export interface WorkspacesOptions {
  /** Host directory that holds all workspaces, as `<tenant>/<session>`; made when absent. */
  readonly root: string;
  readonly random: Random;
  /** ms since 1970. */
  readonly now: () => number;
  /** @default the best this system has */
  readonly access?: Access;
}

const DIRECTORY_MODE = 0o700;

/** Workspaces in a directory of this machine, or of a mounted file system. What links lead `root` to is fixed here. */
export async function createWorkspaces(options: WorkspacesOptions): Promise<Workspaces> {
  await mkdir(options.root, { recursive: true, mode: DIRECTORY_MODE });
  const root = await realpath(options.root);
  const access = options.access ?? (await bestAccess(root));
  const turns = new Turns();
  return {
    async open(session) {
      const workspace = new LocalWorkspace(namesOf(session), { ...options, root, access, turns });
      await workspace.make();
      return workspace;
    },
    async find(session) {
      const [tenant, sessionId] = namesOf(session);
      try {
        await using top = await openDirectory(root, access);
        await using parent = await top.enter(tenant);
        await using own = await parent?.enter(sessionId);
        return own && new LocalWorkspace([tenant, sessionId], { ...options, root, access, turns });
      } catch (error) {
        throw workspaceError(error, '.');
      }
    },
    async erase(session) {
      const [tenant, sessionId] = namesOf(session);
      return turns.take(`${tenant}/${sessionId}`, async () => {
        try {
          await using top = await openDirectory(root, access);
          await using parent = await top.enter(tenant);
          return parent !== undefined && (await removeEntry(parent, sessionId, '.')) !== undefined;
        } catch (error) {
          throw workspaceError(error, '.');
        }
      });
    },
  };
}

function namesOf({ tenant, sessionId }: { tenant: string; sessionId: string }): readonly [string, string] {
  if (!tenantSchema.safeParse(tenant).success || !sessionIdSchema.safeParse(sessionId).success)
    throw new HandrailError('INVALID_ARGUMENTS', 'not the name of a tenant and a session');
  return [tenant, sessionId];
}

interface Place {
  readonly root: string;
  readonly access: Access;
  readonly turns: Turns;
  readonly random: Random;
  readonly now: () => number;
}

type OnMissing = (parent: Directory, name: string, index: number) => Promise<void>;

class LocalWorkspace implements Workspace {
  readonly #session: readonly string[];
  readonly #place: Place;
  readonly #quota: Quota;

  constructor(session: readonly string[], place: Place) {
    this.#session = session;
    this.#place = place;
    this.#quota = new Quota(async () => {
      await using directory = await this.#walk([]);
      return await measureUsage(directory, place.now());
    });
  }

  /** Makes the directory of the session when absent. */
  async make(): Promise<void> {
    try {
      await using _made = await this.#follow(this.#session, makeDirectory);
    } catch (error) {
      throw workspaceError(error, '.');
    }
  }

  async read(path: string): Promise<Uint8Array> {
    return this.#attempt(path, async (parsed) => {
      const { parents, name } = fileName(parsed, path);
      await using directory = await this.#walk(parents);
      return await readRegularFile(directory, name, path);
    });
  }

  async write(path: string, data: Uint8Array, mode: 'create' | 'overwrite' | 'append'): Promise<{ bytes: number; created: boolean }> {
    return this.#inTurn(path, async (parsed) => {
      if (data.byteLength > FILE_BYTES) throw tooLarge(path);
      const { parents, name } = fileName(parsed, path);
      // What comes before a `..` must exist, as the kernel would have it; what comes after is made.
      const lastStepBack = this.#session.length + parents.lastIndexOf('..');
      await using directory = await this.#walk(parents, async (parent, missing, index) => {
        if (index < lastStepBack) throw refusal('FILE_NOT_FOUND', path, 'a directory before ".." does not exist');
        await this.#quota.reserve({ entries: 1, bytes: 0 });
        await makeDirectory(parent, missing);
      });
      const inspect = async () => {
        const found = await inspectFile(directory, name, path);
        if (found !== undefined && mode === 'create')
          throw refusal('INVALID_ARGUMENTS', path, 'it exists already; mode "overwrite" replaces it');
        return found;
      };
      const before = await inspect();
      const old = mode === 'append' && before !== undefined ? await readRegularFile(directory, name, path) : Buffer.of();
      const content = old.length === 0 ? data : Buffer.concat([old, data]);
      if (content.byteLength > FILE_BYTES) throw tooLarge(path);
      await this.#quota.reserve({ entries: before === undefined ? 1 : 0, bytes: content.byteLength - (before?.size ?? 0) });
      await replaceFile(directory, name, content, { random: this.#place.random, check: async () => void (await inspect()) });
      return { bytes: content.byteLength, created: before === undefined };
    });
  }

  async list(path: string, options: { depth: number; limit: number }): Promise<WorkspaceEntry[]> {
    return this.#attempt(path, async (parsed) => {
      const found: WorkspaceEntry[] = [];
      let level = await this.#entries(parsed.steps, parsed.names);
      for (let depth = 1; level.length > 0 && found.length < options.limit; depth++) {
        found.push(...level.slice(0, options.limit - found.length));
        const directories = depth < options.depth ? level.filter((entry) => entry.kind === 'directory') : [];
        level = [];
        for (const { path: below } of directories) {
          if (found.length + level.length >= options.limit) break;
          const names = below.split('/');
          level.push(...(await this.#entries(names, names).catch(unlessGone)));
        }
      }
      return found.sort((a, b) => (a.path < b.path ? -1 : 1));
    });
  }

  async remove(path: string): Promise<void> {
    await this.#inTurn(path, async (parsed) => {
      const name = parsed.steps.at(-1);
      if (name === undefined || name === '..')
        throw refusal('PERMISSION_DENIED', path, 'a workspace cannot be removed, nor what ".." leads to');
      await using directory = await this.#walk(parsed.steps.slice(0, -1));
      const freed = await removeEntry(directory, name, path);
      if (freed === undefined) throw refusal('FILE_NOT_FOUND', path, 'there is no such file or directory');
      this.#quota.release(freed);
    });
  }

  async #entries(steps: readonly string[], names: readonly string[]): Promise<WorkspaceEntry[]> {
    await using directory = await this.#walk(steps);
    return await entriesIn(directory, names);
  }

  async #walk(steps: readonly string[], onMissing?: OnMissing): Promise<Directory> {
    return this.#follow([...this.#session, ...steps], onMissing);
  }

  /** Steps into one directory after the other, from the root of all workspaces; `..` goes back to the one before. */
  async #follow(steps: readonly string[], onMissing?: OnMissing): Promise<Directory> {
    const trail = [await openDirectory(this.#place.root, this.#place.access)];
    let reached: Directory | undefined;
    try {
      for (const [index, step] of steps.entries()) {
        if (step === '..') await trail.pop()?.[Symbol.asyncDispose]();
        else trail.push(await enter(trail.at(-1), step, onMissing && ((parent, name) => onMissing(parent, name, index))));
      }
      reached = trail.pop();
    } finally {
      for (const directory of trail.reverse()) await directory[Symbol.asyncDispose]();
    }
    if (reached === undefined) throw new HandrailError('INTERNAL', 'a walk ended above the workspaces');
    return reached;
  }

  async #attempt<T>(path: string, work: (parsed: WorkspacePath) => Promise<T>): Promise<T> {
    try {
      return await work(parsePath(path));
    } catch (error) {
      throw workspaceError(error, path);
    }
  }

  /** One change of a session at a time, so that an append loses nothing and the quota is counted right. */
  async #inTurn<T>(path: string, work: (parsed: WorkspacePath) => Promise<T>): Promise<T> {
    return this.#place.turns.take(this.#session.join('/'), async () => {
      try {
        return await this.#attempt(path, work);
      } catch (error) {
        this.#quota.forget();
        throw error;
      }
    });
  }
}

async function enter(
  parent: Directory | undefined,
  name: string,
  onMissing?: (parent: Directory, name: string) => Promise<void>,
): Promise<Directory> {
  let inside = await parent?.enter(name);
  if (inside === undefined && parent !== undefined && onMissing !== undefined) {
    await onMissing(parent, name);
    inside = await parent.enter(name);
  }
  if (inside === undefined) throw new HandrailError('FILE_NOT_FOUND', `There is no directory ${shownPath(name)}.`);
  return inside;
}

async function makeDirectory(parent: Directory, name: string): Promise<void> {
  try {
    await mkdir(parent.at(name), { mode: DIRECTORY_MODE });
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
}

/** The name of a file and the steps to its directory; refuses a path that can only mean a directory. */
function fileName(parsed: WorkspacePath, path: string): { parents: readonly string[]; name: string } {
  const name = parsed.steps.at(-1);
  if (name === undefined || parsed.directoryOnly) throw refusal('INVALID_ARGUMENTS', path, 'it names a directory, a file is needed');
  return { parents: parsed.steps.slice(0, -1), name };
}

/** For a directory that a listing found and that is gone, or something else, when its turn comes. */
function unlessGone(error: unknown): WorkspaceEntry[] {
  if (error instanceof HandrailError || errorCode(error) === 'EACCES') return [];
  throw error;
}
