import { HandrailError } from '../../core/errors.ts';
import { FILE_BYTES, WORKSPACE } from '../../core/limits.ts';
import type { Workspace, WorkspaceEntry } from '../../core/ports/workspace.ts';
import type { FileTree, TreeChanges } from './child-tree.ts';

/** Deeper than any workspace lets a path go. */
const DEPTH = 100;
const READS_AT_ONCE = 16;

/**
 * A copy of a session's files, by workspace path. Links and special files are left out: only what the workspace's own
 * reader takes gets into a sandbox. HandrailError RESOURCE_EXHAUSTED when it is more than a workspace may hold.
 */
export async function takeSnapshot(workspace: Workspace): Promise<FileTree> {
  const entries = await workspace.list('.', { depth: DEPTH, limit: WORKSPACE.files + 1 });
  const bytes = entries.reduce((sum, entry) => sum + entry.bytes, 0);
  if (entries.length > WORKSPACE.files || bytes > WORKSPACE.bytes) {
    throw new HandrailError('RESOURCE_EXHAUSTED', 'The workspace holds too many or too large files to run code on it. Remove some first.');
  }
  const tree: FileTree = new Map(entries.filter((entry) => entry.kind !== 'other').map((entry) => [entry.path, undefined]));
  const files = entries.filter((entry) => entry.kind === 'file');
  for (let start = 0; start < files.length; start += READS_AT_ONCE) {
    await Promise.all(files.slice(start, start + READS_AT_ONCE).map((entry) => readInto(tree, workspace, entry)));
  }
  return tree;
}

async function readInto(tree: FileTree, workspace: Workspace, { path, modifiedAt }: WorkspaceEntry): Promise<void> {
  try {
    tree.set(path, { data: await workspace.read(path), modifiedAt });
  } catch (error) {
    // Removed, or turned into something else, since it was listed.
    if (!(error instanceof HandrailError) || error.code === 'RESOURCE_EXHAUSTED') throw error;
    tree.delete(path);
  }
}

/** Paths written or removed (a directory stands for what was in it; new ones are named only when empty), and what could not be kept, as lines for the reader. */
export interface Applied {
  readonly files: readonly string[];
  readonly problems: readonly string[];
}

/**
 * Brings a script's changes back, each through the workspace's own writer: nothing the child says is trusted.
 * HandrailError RESOURCE_EXHAUSTED, with nothing changed, when the result would not fit into a workspace.
 */
export async function applyChanges(workspace: Workspace, before: FileTree, changes: TreeChanges): Promise<Applied> {
  checkFits(before, changes);
  const files: string[] = [];
  const problems = changes.skipped.map((path) => `${path}: links are not kept`);
  const attempt = async (path: string, work: () => Promise<unknown>): Promise<void> => {
    try {
      await work();
      files.push(path);
    } catch (error) {
      if (!(error instanceof HandrailError)) throw error;
      problems.push(error.message);
    }
  };
  // Removing a directory removes what is in it.
  const removed = new Set(changes.removed);
  for (const path of removed) {
    if (!parentsOf(path).some((parent) => removed.has(parent))) await attempt(path, () => remove(workspace, path));
  }
  for (const path of emptyDirectories(changes)) await attempt(path, () => makeDirectory(workspace, path));
  for (const [path, data] of changes.files) await attempt(path, () => workspace.write(path, data, 'overwrite'));
  return { files: files.sort(), problems };
}

async function remove(workspace: Workspace, path: string): Promise<void> {
  try {
    await workspace.remove(path);
  } catch (error) {
    if (!(error instanceof HandrailError && error.code === 'FILE_NOT_FOUND')) throw error;
  }
}

/** New directories that nothing new lies in; the others come with what lies in them. */
function emptyDirectories({ directories, files }: TreeChanges): string[] {
  const used = new Set([...directories, ...files.keys()].flatMap(parentsOf));
  return directories.filter((path) => !used.has(path));
}

/** A workspace makes directories only on the way to a file; an empty one is what a file leaves when it goes. */
async function makeDirectory(workspace: Workspace, path: string): Promise<void> {
  const placeholder = `${path}/.empty`;
  await workspace.write(placeholder, new Uint8Array(0), 'create');
  await workspace.remove(placeholder);
}

function checkFits(before: FileTree, changes: TreeChanges): void {
  const sizes = new Map<string, number>();
  for (const [path, file] of before) sizes.set(path, file?.data.length ?? 0);
  for (const path of changes.removed) sizes.delete(path);
  for (const path of changes.directories) sizes.set(path, 0);
  for (const [path, data] of changes.files) {
    if (data.length > FILE_BYTES) throw refused(`${path} has ${megabytes(data.length)} MB; a file may have ${megabytes(FILE_BYTES)}`);
    sizes.set(path, data.length);
    for (const parent of parentsOf(path)) if (!sizes.has(parent)) sizes.set(parent, 0);
  }
  const bytes = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  if (sizes.size > WORKSPACE.files)
    throw refused(`the workspace would hold ${sizes.size} files and directories; ${WORKSPACE.files} are allowed`);
  if (bytes > WORKSPACE.bytes) throw refused(`the workspace would hold ${megabytes(bytes)} MB; ${megabytes(WORKSPACE.bytes)} are allowed`);
}

function refused(what: string): HandrailError {
  return new HandrailError('RESOURCE_EXHAUSTED', `The script ran, but none of its file changes were kept: ${what}.`, {
    suggestions: ['Write less, or keep temporary files in /tmp.'],
  });
}

function parentsOf(path: string): string[] {
  const parts = path.split('/');
  return parts.slice(1).map((_part, index) => parts.slice(0, index + 1).join('/'));
}

const megabytes = (bytes: number): string => (bytes / 1024 / 1024).toFixed(1);
