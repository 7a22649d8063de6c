/** Files by path; `undefined` is a directory. `modifiedAt` is ms since 1970. */
export type FileTree = Map<string, { readonly data: Uint8Array; readonly modifiedAt: number } | undefined>;

/** What a script did to a tree. A file that became a directory is in `removed` and in `directories`. */
export interface TreeChanges {
  readonly files: Map<string, Uint8Array>;
  /** New ones, parents before children. */
  readonly directories: readonly string[];
  /** Files and directories that are gone. */
  readonly removed: readonly string[];
  /** Symbolic links and the like: a workspace holds only files and directories. */
  readonly skipped: readonly string[];
}

/** Where a script sees the session's files. */
export const WORKSPACE_PATH = '/workspace';
