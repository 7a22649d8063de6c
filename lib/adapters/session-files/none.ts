import { HandrailError } from '../../core/errors.ts';
import type { SessionFiles } from '../../core/ports/session-files.ts';

const none = async (): Promise<never> => {
  throw new HandrailError('NOT_FOUND', 'this deployment has no workspaces: sessions have no files');
};

/** Stands where a deployment has no workspaces. */
export const noFiles: SessionFiles = { read: none, write: none, list: none, erase: async () => false };
