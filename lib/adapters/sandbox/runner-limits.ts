import { WORKSPACE } from '../../core/limits.ts';

const MB = 1024 * 1024;

/** What one call of a script may use. */
export interface RunnerLimits {
  /** Resident memory of the child. CPython's own limit is 512 MB, which takes about 700 MB to reach. */
  readonly memoryBytes: number;
  /** Kept of stdout, and of stderr; the middle is left out. */
  readonly keptOutputBytes: number;
  /** After this much on stdout, or on stderr, a script's writes fail. A shell counts what goes through its pipes too. */
  readonly outputBytes: number;
  /** All files of a script together, those outside the workspace too. */
  readonly fileSystemBytes: number;
}

export const RUNNER_LIMITS: RunnerLimits = {
  memoryBytes: 850 * MB,
  keptOutputBytes: 4 * MB,
  outputBytes: 64 * MB,
  fileSystemBytes: 2 * WORKSPACE.bytes,
};
