import type { Workspace } from './workspace.ts';

/** What a script left: text output (cut to a cap), exit code, and the files it changed in the workspace. */
export interface CodeResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
  /** Paths written or deleted, as seen by the safe writer. */
  readonly files: readonly string[];
}

export interface CodeRequest {
  readonly language: 'shell' | 'python' | 'javascript';
  readonly code: string;
  readonly stdin?: string;
  readonly workspace: Workspace | undefined;
  /** ms the script may run; the process group is killed after it. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Runs untrusted code in a fresh, confined process (design 6.6). HandrailError TIMEOUT, SANDBOX_CRASHED, RESOURCE_EXHAUSTED. */
export interface CodeRunner {
  run(request: CodeRequest): Promise<CodeResult>;
}
