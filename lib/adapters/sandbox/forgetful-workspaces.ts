import { rm } from 'node:fs/promises';
import type { Workspaces } from '../../core/ports/workspace.ts';
import { createWorkspaces, type WorkspacesOptions } from './workspace.ts';

/**
 * Workspaces of a deployment that has none: each is empty when it is opened, and what the one before left is gone. For
 * one call at a time, as a Lambda environment makes them.
 */
export function forgetfulWorkspaces(options: WorkspacesOptions): Workspaces {
  return {
    async open(session) {
      await rm(options.root, { recursive: true, force: true });
      return (await createWorkspaces(options)).open(session);
    },
    find: async () => undefined,
    async erase() {
      await rm(options.root, { recursive: true, force: true });
      return false;
    },
  };
}
