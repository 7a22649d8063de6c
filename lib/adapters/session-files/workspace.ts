import { HandrailError } from '../../core/errors.ts';
import { FILE_TRANSFER_BYTES } from '../../core/limits.ts';
import type { SessionFiles } from '../../core/ports/session-files.ts';
import type { Workspaces } from '../../core/ports/workspace.ts';

/** Files of sessions where the workspaces are: on a laptop, and inside the file Lambda. */
export function workspaceSessionFiles(workspaces: Workspaces): SessionFiles {
  return {
    async read(session, path) {
      const data = await (await workspaces.find(session))?.read(path);
      if (data === undefined) throw noFiles(path);
      if (data.byteLength > FILE_TRANSFER_BYTES) throw tooLarge(path);
      return data;
    },
    async write(session, path, data) {
      if (data.byteLength > FILE_TRANSFER_BYTES) throw tooLarge(path);
      return (await workspaces.open(session)).write(path, data, 'overwrite');
    },
    async list(session, path, options) {
      const entries = await (await workspaces.find(session))?.list(path, options);
      if (entries === undefined && path !== '.') throw noFiles(path);
      return entries ?? [];
    },
    erase: (session) => workspaces.erase(session),
  };
}

const noFiles = (path: string): HandrailError => new HandrailError('FILE_NOT_FOUND', `${path.slice(0, 200)}: the session has no files`);

function tooLarge(path: string): HandrailError {
  return new HandrailError('PAYLOAD_TOO_LARGE', `${path.slice(0, 200)} is over ${FILE_TRANSFER_BYTES} bytes, more than the API carries`, {
    suggestions: ['An agent, or whoever mounts the workspace, can work with files up to 10 MB.'],
  });
}
