import { findAssets, type SandboxAssets } from '../../lib/adapters/sandbox/assets.ts';
import { createCodeRunner } from '../../lib/adapters/sandbox/code-runner.ts';
import type { RunnerLimits } from '../../lib/adapters/sandbox/runner-limits.ts';
import { HandrailError } from '../../lib/core/errors.ts';
import type { CodeRequest, CodeResult } from '../../lib/core/ports/code-runner.ts';
import type { Workspace } from '../../lib/core/ports/workspace.ts';
import { toolContext } from './tool-context.ts';
import { givenWorkspaces } from './workspace.ts';

/** Children start slowly on a busy machine; what a test waits for must come, however late. */
export const PATIENCE_MS = 60_000;

export interface Sandbox {
  readonly workspace: Workspace;
  /** Host directory of the workspace. */
  readonly host: string;
  readonly run: (language: CodeRequest['language'], code: string, more?: Partial<CodeRequest>) => Promise<CodeResult>;
  /** The error a run ends with. */
  readonly failure: (language: CodeRequest['language'], code: string, more?: Partial<CodeRequest>) => Promise<HandrailError>;
  /** Most memory the children have held, bytes. */
  readonly peakBytes: () => number;
}

/** A real runner with real children on a workspace of its own. */
export async function givenSandbox(options: { assets?: SandboxAssets; limits?: Partial<RunnerLimits> } = {}): Promise<Sandbox> {
  const { workspaces, host } = await givenWorkspaces();
  const workspace = await workspaces.open(toolContext());
  let peak = 0;
  const runner = createCodeRunner({
    assets: options.assets ?? findAssets(),
    ...(options.limits ? { limits: options.limits } : {}),
    onChildEnd: ({ peakBytes }) => {
      peak = Math.max(peak, peakBytes);
    },
  });
  const run: Sandbox['run'] = (language, code, more = {}) =>
    runner.run({ language, code, workspace, timeoutMs: PATIENCE_MS, signal: new AbortController().signal, ...more });
  return {
    workspace,
    host,
    run,
    peakBytes: () => peak,
    failure: async (language, code, more) => {
      try {
        const result = await run(language, code, more);
        throw new Error(`no error, but ${JSON.stringify(result).slice(0, 500)}`);
      } catch (error) {
        if (error instanceof HandrailError) return error;
        throw error;
      }
    },
  };
}

/** Paths of a workspace, directories with a slash. */
export async function pathsOf(workspace: Workspace): Promise<string[]> {
  const entries = await workspace.list('.', { depth: 20, limit: 1_000 });
  return entries.map((entry) => (entry.kind === 'directory' ? `${entry.path}/` : entry.path));
}
