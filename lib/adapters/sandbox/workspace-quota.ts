import { lstat, unlink } from 'node:fs/promises';
import { HandrailError } from '../../core/errors.ts';
import { WORKSPACE } from '../../core/limits.ts';
import type { Directory } from './workspace-directory.ts';
import { unlessAbsent } from './workspace-errors.ts';
import { namesIn, type Usage } from './workspace-files.ts';
import { PATH_DEPTH, TEMP_PREFIX } from './workspace-path.ts';

/** A Lambda lives 15 minutes at most: a temporary file older than that has lost its writer. */
const ORPHAN_MS = 15 * 60_000;

/**
 * Keeps a workspace within `limits.WORKSPACE`. Measured at the first write, then counted along; measured again before
 * anything is refused, since files may have gone in the meantime. Two processes that write at the same moment can exceed
 * it by what each of them writes.
 */
export class Quota {
  readonly #measure: () => Promise<Usage>;
  #usage: Usage | undefined;

  constructor(measure: () => Promise<Usage>) {
    this.#measure = measure;
  }

  /** Counts `more`. HandrailError RESOURCE_EXHAUSTED when it does not fit; what shrinks always fits. */
  async reserve(more: Usage): Promise<void> {
    let usage = this.#usage ?? (await this.#measure());
    if (this.#usage !== undefined && excess(usage, more) !== undefined) usage = await this.#measure();
    const problem = excess(usage, more);
    this.#usage = problem === undefined ? { entries: usage.entries + more.entries, bytes: usage.bytes + more.bytes } : usage;
    if (problem !== undefined) throw new HandrailError('RESOURCE_EXHAUSTED', problem);
  }

  /** Counts what was removed. */
  release({ entries, bytes }: Usage): void {
    if (this.#usage !== undefined) this.#usage = { entries: this.#usage.entries - entries, bytes: this.#usage.bytes - bytes };
  }

  /** Measure again next time: an operation failed after it was counted, or in the middle. */
  forget(): void {
    this.#usage = undefined;
  }
}

/** Counts what lies in `directory`, following nothing, and clears away what writers that died have left. */
export async function measureUsage(directory: Directory, now: number, depth = 0): Promise<Usage> {
  // More names than may be there decide the answer already.
  const names = (await namesIn(directory)).slice(0, WORKSPACE.files + 1);
  const found = await Promise.all(names.map(async (name) => (name === undefined ? undefined : unlessAbsent(lstat(directory.at(name))))));
  let [entries, bytes] = [0, 0];
  for (const [index, name] of names.entries()) {
    const stats = found[index];
    if (name?.startsWith(TEMP_PREFIX)) {
      if (stats?.isFile() && now - stats.mtimeMs > ORPHAN_MS) await unlink(directory.at(name)).catch(() => {});
      continue;
    }
    entries += 1;
    if (stats?.isFile()) bytes += stats.size;
    if (name === undefined || !stats?.isDirectory() || depth >= PATH_DEPTH || entries > WORKSPACE.files) continue;
    await using inside = await directory.enter(name);
    const below = inside === undefined ? { entries: 0, bytes: 0 } : await measureUsage(inside, now, depth + 1);
    entries += below.entries;
    bytes += below.bytes;
  }
  return { entries, bytes };
}

function excess(usage: Usage, more: Usage): string | undefined {
  if (more.entries > 0 && usage.entries + more.entries > WORKSPACE.files) {
    return `The workspace holds ${usage.entries} files and directories; ${WORKSPACE.files} are allowed.`;
  }
  if (more.bytes > 0 && usage.bytes + more.bytes > WORKSPACE.bytes) {
    return `The workspace holds ${megabytes(usage.bytes)} MB; ${megabytes(WORKSPACE.bytes)} MB are allowed.`;
  }
  return undefined;
}

function megabytes(bytes: number): string {
  return (bytes / 1024 / 1024).toFixed(1);
}
