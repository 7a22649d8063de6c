import type { ToolContext, ToolOutput, ToolServices } from '../../core/hands/category.ts';
import type { CodeRequest } from '../../core/ports/code-runner.ts';
import { serviceOf } from '../services.ts';

/** Kept of the call's time for what comes after the script: writing back files, shaping the result. */
const MARGIN_MS = 500;

/** Runs a script and shows what it left. A script that fails is a result like any other: the exit code says so. */
export async function runCode(
  language: CodeRequest['language'],
  { code, stdin }: { code: string; stdin?: string | undefined },
  context: ToolContext,
  services: Partial<ToolServices>,
): Promise<ToolOutput> {
  const result = await serviceOf(services, 'code').run({
    language,
    code,
    ...(stdin === undefined ? {} : { stdin }),
    workspace: await serviceOf(services, 'workspaces').open(context),
    timeoutMs: Math.max(1, context.timeoutMs - MARGIN_MS),
    signal: context.signal,
  });
  return { json: { exitCode: result.exitCode, stdout: result.stdout, stderr: result.stderr, files: shownFiles(result.files) } };
}

const SHOWN_FILES = 200;

function shownFiles(files: readonly string[]): readonly string[] {
  return files.length <= SHOWN_FILES ? files : [...files.slice(0, SHOWN_FILES), `... and ${files.length - SHOWN_FILES} more`];
}
