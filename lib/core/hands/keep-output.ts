import { HandrailError } from '../errors.ts';
import { KEPT_OUTPUTS } from '../limits.ts';
import type { Workspace, Workspaces } from '../ports/workspace.ts';
import type { Call } from './call.ts';
import type { Category } from './category.ts';
import { cleanText } from './text.ts';

/** Directory of a workspace that holds what was too long for a result. Files in it are like any other: readable, and counted. */
export const OUTPUT_DIRECTORY = '.handrail/output';

/** Keeps outputs of calls in the categories that have the session's files; for `CallDeps`. */
export function outputKeeper(
  workspaces: Workspaces,
  categories: readonly Pick<Category, 'name' | 'needs'>[],
): (call: Call, text: string) => Promise<string | undefined> {
  const withFiles = new Set(categories.filter(({ needs }) => needs.includes('workspace')).map(({ name }) => name));
  return async (call, text) => (withFiles.has(call.category) ? keepOutput(await workspaces.open(call), call, text) : undefined);
}

/**
 * Keeps a long output whole as a file of the session, so that the LLM can read it in parts (design 6.2, step 3). The file is
 * called after the call; where an earlier run of the session has left one of that name, the run's id goes with it. The oldest
 * go when there are too many. Answers the path; undefined when it does not fit: the result is cut then, and that is all.
 */
export async function keepOutput(
  workspace: Workspace,
  { callId, runId }: Pick<Call, 'callId' | 'runId'>,
  text: string,
): Promise<string | undefined> {
  const data = new TextEncoder().encode(cleanText(text));
  try {
    await removeOldest(workspace);
    const path = `${OUTPUT_DIRECTORY}/${callId}`;
    const isNew = await workspace.write(path, data, 'create').then(
      () => true,
      (error: unknown) => {
        if (error instanceof HandrailError && error.code === 'INVALID_ARGUMENTS') return false;
        throw error;
      },
    );
    if (isNew) return path;
    const own = `${path}-${runId.slice(-8)}`;
    await workspace.write(own, data, 'overwrite');
    return own;
  } catch (error) {
    if (error instanceof HandrailError) return undefined;
    throw error;
  }
}

async function removeOldest(workspace: Workspace): Promise<void> {
  const kept = await workspace.list(OUTPUT_DIRECTORY, { depth: 1, limit: 10 * KEPT_OUTPUTS }).catch((error: unknown) => {
    if (error instanceof HandrailError && error.code === 'FILE_NOT_FOUND') return [];
    throw error;
  });
  const surplus = kept
    .filter(({ kind }) => kind === 'file')
    .sort((a, b) => b.modifiedAt - a.modifiedAt)
    .slice(KEPT_OUTPUTS - 1);
  for (const { path } of surplus) await workspace.remove(path);
}
