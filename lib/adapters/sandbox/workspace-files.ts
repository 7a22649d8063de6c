import { constants, type Stats } from 'node:fs';
import { lstat, open, readdir, rename, rmdir, unlink } from 'node:fs/promises';
import { base32 } from '../../core/ids.ts';
import { FILE_BYTES } from '../../core/limits.ts';
import type { Random } from '../../core/ports/clock.ts';
import type { WorkspaceEntry } from '../../core/ports/workspace.ts';
import type { Directory } from './workspace-directory.ts';
import { refusal, unlessAbsent } from './workspace-errors.ts';
import { isNameable, PATH_DEPTH, TEMP_PREFIX } from './workspace-path.ts';

/** What a workspace, or a part of it, holds: files and directories together, and the bytes of its files. */
export interface Usage {
  readonly entries: number;
  readonly bytes: number;
}

/** O_NONBLOCK, so that a FIFO without a writer does not hang; O_NOCTTY, so that a terminal does not become ours. */
const READ_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;
const CREATE_FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
const FILE_MODE = 0o600;

/**
 * The bytes of the regular file `name`. Opened first and judged by its descriptor, so that what is checked is what is
 * read; read with a bound, whatever size it claims. `path` is for messages.
 */
export async function readRegularFile(directory: Directory, name: string, path: string): Promise<Buffer> {
  await using file = await open(directory.at(name), READ_FLAGS);
  const found = await file.stat();
  checkRegular(found, path);
  await directory.confirm(name, file);
  if (found.size > FILE_BYTES) throw tooLarge(path);
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of file.createReadStream({ end: FILE_BYTES, autoClose: false })) {
    chunks.push(chunk);
    bytes += chunk.length;
  }
  if (bytes > FILE_BYTES) throw tooLarge(path);
  return Buffer.concat(chunks);
}

/** What `name` is, undefined when absent; refuses all but a regular file with one name. */
export async function inspectFile(directory: Directory, name: string, path: string): Promise<Stats | undefined> {
  const found = await unlessAbsent(lstat(directory.at(name)));
  if (found !== undefined) checkRegular(found, path);
  return found;
}

/**
 * Puts a new file in the place of `name`, or none: the content is complete on disk before the rename. `check` runs right
 * before it. The rename replaces whatever has got there since, it never follows it.
 */
export async function replaceFile(
  directory: Directory,
  name: string,
  content: Uint8Array,
  options: { random: Random; check: () => Promise<void> },
): Promise<void> {
  const temp = `${TEMP_PREFIX}${base32(options.random.bytes(15), 24)}`;
  await using file = await open(directory.at(temp), CREATE_FLAGS, FILE_MODE);
  try {
    await directory.confirm(temp, file);
    await file.writeFile(content);
    await file.datasync();
    await options.check();
    await directory.confirm(temp, file);
    await rename(directory.at(temp), directory.at(name));
  } catch (error) {
    await unlink(directory.at(temp)).catch(() => {});
    throw error;
  }
}

/** Names in a directory. Those that are not UTF-8 come as undefined: Node cannot open them by a string. */
export async function namesIn(directory: Directory): Promise<(string | undefined)[]> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  return (await readdir(directory.here, { encoding: 'buffer' })).map((raw) => {
    try {
      return decoder.decode(raw);
    } catch {
      return undefined;
    }
  });
}

/** The entries of a directory that a path can name, by name. Links, special files and hard-linked files are `other`. */
export async function entriesIn(directory: Directory, parents: readonly string[]): Promise<WorkspaceEntry[]> {
  const names = (await namesIn(directory)).filter((name) => name !== undefined).filter(isNameable);
  const found = await Promise.all(names.map((name) => entryOf(directory, name.normalize('NFC'), parents)));
  return found.filter((entry) => entry !== undefined).sort((a, b) => (a.path < b.path ? -1 : 1));
}

async function entryOf(directory: Directory, name: string, parents: readonly string[]): Promise<WorkspaceEntry | undefined> {
  const found = await unlessAbsent(lstat(directory.at(name)));
  if (found === undefined) return undefined;
  const kind = found.isDirectory() ? 'directory' : found.isFile() && found.nlink === 1 ? 'file' : 'other';
  const bytes = kind === 'file' ? found.size : 0;
  return { path: [...parents, name].join('/'), kind, bytes, modifiedAt: Math.round(found.mtimeMs) };
}

/** Removes a file, a link (not what it leads to), or a directory with all it holds. What that freed; undefined when absent. */
export async function removeEntry(directory: Directory, name: string, path: string, depth = 0): Promise<Usage | undefined> {
  const found = await unlessAbsent(lstat(directory.at(name)));
  if (found === undefined) return undefined;
  if (!found.isDirectory()) {
    await unlink(directory.at(name));
    return { entries: 1, bytes: found.isFile() ? found.size : 0 };
  }
  if (depth > PATH_DEPTH) throw refusal('INVALID_ARGUMENTS', path, 'its directories are too deep');
  await using inside = await directory.enter(name);
  if (inside === undefined) return undefined;
  let [entries, bytes] = [1, 0];
  for (const child of await namesIn(inside)) {
    const freed = child === undefined ? undefined : await removeEntry(inside, child, path, depth + 1);
    entries += freed?.entries ?? 0;
    bytes += freed?.bytes ?? 0;
  }
  await rmdir(directory.at(name));
  return { entries, bytes };
}

export function tooLarge(path: string): Error {
  return refusal('RESOURCE_EXHAUSTED', path, `a file may be at most ${FILE_BYTES / 1024 / 1024} MB`);
}

function checkRegular(found: Stats, path: string): void {
  if (found.isDirectory()) throw refusal('INVALID_ARGUMENTS', path, 'it is a directory');
  if (found.isSymbolicLink()) throw refusal('PERMISSION_DENIED', path, 'it is a link, and links are not followed');
  if (!found.isFile()) throw refusal('PERMISSION_DENIED', path, 'it is not a regular file');
  // None is a file that was replaced after it was opened: its old content is a right answer.
  if (found.nlink > 1) throw refusal('PERMISSION_DENIED', path, 'it is a hard link: the file has another name, maybe outside');
}
