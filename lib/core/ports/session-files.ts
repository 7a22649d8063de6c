import type { SessionKey } from './run-store.ts';
import type { WorkspaceEntry } from './workspace.ts';

/** The files of a session, for people: the same containment and limits as for the agent's own tools (design section 9, "The file API"). */
export interface SessionFiles {
  /** Errors: FILE_NOT_FOUND, PERMISSION_DENIED, INVALID_ARGUMENTS; PAYLOAD_TOO_LARGE beyond `FILE_TRANSFER_BYTES`. */
  read(session: SessionKey, path: string): Promise<Uint8Array>;
  /** Creates or replaces. Errors: those, RESOURCE_EXHAUSTED. */
  write(session: SessionKey, path: string, data: Uint8Array): Promise<{ readonly bytes: number; readonly created: boolean }>;
  /** Nothing for a session that has none. Looking makes nothing. */
  list(session: SessionKey, path: string, options: { readonly depth: number; readonly limit: number }): Promise<readonly WorkspaceEntry[]>;
  /** Removes all of them; false when there were none. */
  erase(session: SessionKey): Promise<boolean>;
}
