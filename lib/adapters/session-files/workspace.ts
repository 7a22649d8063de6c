import { HandrailError } from '../../core/errors.ts';
import { FILE_TRANSFER_BYTES } from '../../core/limits.ts';
import type { SessionFiles } from '../../core/ports/session-files.ts';
import type { Workspaces } from '../../core/ports/workspace.ts';

/** Files of sessions where the workspaces are: on a laptop, and inside the file Lambda. */
export function workspaceSessionFiles(workspaces: Workspaces): SessionFiles {
  return {
    async read(session, path) {
      const data = await (await workspaces.open(session)).read(path);
      if (data.byteLength > FILE_TRANSFER_BYTES) throw tooLarge(path);
      return data;
    },
    async write(session, path, data) {
      if (data.byteLength > FILE_TRANSFER_BYTES) throw tooLarge(path);
      return (await workspaces.open(session)).write(path, data, 'overwrite');
    },
    async list(session, path, options) {
      return (await workspaces.open(session)).list(path, options);
    },
    erase: (session) => workspaces.erase(session),
  };
}

function tooLarge(path: string): HandrailError {
  return new HandrailError('PAYLOAD_TOO_LARGE', `${path.slice(0, 200)} is over ${FILE_TRANSFER_BYTES} bytes, more than the API carries`, {
    suggestions: ['An agent, or whoever mounts the workspace, can work with files up to 10 MB.'],
  });
}
