/** One session's files. Paths are relative to its root, `/`-separated; nothing outside can be named (design 6.6). */
export interface Workspace {
  /** HandrailError FILE_NOT_FOUND, PERMISSION_DENIED, INVALID_ARGUMENTS, RESOURCE_EXHAUSTED; none shows a host path. */
  read(path: string): Promise<Uint8Array>;
  /** Atomic: readers see the old file or the whole new one. Missing directories are made. */
  write(path: string, data: Uint8Array, mode: 'create' | 'overwrite' | 'append'): Promise<{ bytes: number; created: boolean }>;
  list(path: string, options: { depth: number; limit: number }): Promise<WorkspaceEntry[]>;
  remove(path: string): Promise<void>;
}

export interface WorkspaceEntry {
  readonly path: string;
  readonly kind: 'file' | 'directory' | 'other';
  readonly bytes: number;
  readonly modifiedAt: number;
}

export interface Workspaces {
  /** Makes the directory when absent. */
  open(session: { tenant: string; sessionId: string }): Promise<Workspace>;
  /** Undefined when there is no directory: to look makes none. */
  find(session: { tenant: string; sessionId: string }): Promise<Workspace | undefined>;
  /** Removes the directory with all it holds; false when there was none. */
  erase(session: { tenant: string; sessionId: string }): Promise<boolean>;
}
