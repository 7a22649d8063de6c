import { HandrailError } from '../errors.ts';
import type { Permissions } from '../hands/define-tool.ts';
import { isPathAllowed } from '../hands/permissions.ts';
import type { Workspace } from '../ports/workspace.ts';

/** A session's files as a skill may use them: only what its `permissions.filesystem` names; lists show only that. */
export function permittedWorkspace(workspace: Workspace, { filesystem }: Permissions): Workspace {
  const { read = [], write = [] } = filesystem ?? {};
  const check = (right: 'read' | 'write', patterns: readonly string[], path: string): void => {
    // A path with a wildcard in it would be compared as a pattern.
    if (!/[*?]/.test(path) && isPathAllowed(path, patterns)) return;
    throw new HandrailError(
      'PERMISSION_DENIED',
      `the skill may not ${right} ${JSON.stringify(path.slice(0, 200))}; it may ${right} ${patterns.join(', ') || 'nothing'}`,
    );
  };
  return {
    read: async (path) => {
      check('read', read, path);
      return workspace.read(path);
    },
    write: async (path, data, mode) => {
      check('write', write, path);
      return workspace.write(path, data, mode);
    },
    remove: async (path) => {
      check('write', write, path);
      return workspace.remove(path);
    },
    list: async (path, options) => {
      const entries = await workspace.list(path, options);
      return entries.filter((entry) => isPathAllowed(entry.path, [...read, ...write]));
    },
  };
}
