import type { ToolHandler } from '../../core/hands/category.ts';
import { WORKSPACE } from '../../core/limits.ts';
import type { WorkspaceEntry } from '../../core/ports/workspace.ts';
import { parseArguments } from '../arguments.ts';
import { serviceOf } from '../services.ts';
import { matchesGlob } from './glob.ts';
import { listDirectoryArguments, MAX_DEPTH } from './list-directory.definition.ts';

const MAX_ENTRIES = 1_000;

/** A line per entry, sorted by path; text, since a model reads a thousand lines of it for the price of half that in JSON. */
export const listDirectory: ToolHandler = async (args, context, services) => {
  const { path, depth, glob, sizes } = parseArguments(listDirectoryArguments, args);
  const workspace = await serviceOf(services, 'workspaces').open(context);
  const all = await workspace.list(path, { depth: depth ?? (glob === undefined ? 1 : MAX_DEPTH), limit: WORKSPACE.files + 1 });
  const matching = glob === undefined ? all : all.filter((entry) => matchesGlob(glob, entry.path));
  const lines = matching.slice(0, MAX_ENTRIES).map((entry) => line(entry, sizes));
  if (matching.length === 0) return { text: glob === undefined ? '(empty)' : `(nothing matches among ${all.length} entries)` };
  if (matching.length > MAX_ENTRIES) lines.push(`(${matching.length - MAX_ENTRIES} more; list a directory below, or use a glob)`);
  return { text: lines.join('\n') };
};

function line(entry: WorkspaceEntry, sizes: boolean): string {
  if (entry.kind === 'directory') return `${entry.path}/`;
  if (entry.kind === 'other') return `${entry.path} (not a regular file: cannot be read)`;
  return sizes ? `${entry.path} (${entry.bytes} bytes)` : entry.path;
}
