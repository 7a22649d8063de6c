import type { ToolContext, ToolOutput, ToolServices } from '../../core/hands/category.ts';
import { cleanText, cutMiddle } from '../../core/hands/text.ts';
import type { CodeRequest, CodeResult } from '../../core/ports/code-runner.ts';
import { serviceOf } from '../services.ts';

/** Kept of the call's time for what comes after the script: writing back files, shaping the result. */
const MARGIN_MS = 500;

/** Escaped bytes of stdout, and of stderr, that a result shows: both, and the names of files, fit into one result. */
const SHOWN_OUTPUT = 16 * 1024;

/**
 * Runs a script and shows what it left. A script that fails is a result like any other: the exit code says so. Of long output
 * the beginning and the end are shown; the whole is kept, and `whole` names the file.
 */
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
  const [stdout, stderr] = [shownOutput(result.stdout), shownOutput(result.stderr)];
  const whole = stdout.cut || stderr.cut ? await context.keepWhole(wholeOutput(result)) : undefined;
  return {
    json: {
      exitCode: result.exitCode,
      ...(whole === undefined ? {} : { whole }),
      stdout: stdout.text,
      stderr: stderr.text,
      files: shownFiles(result.files),
    },
    ...(whole === undefined ? {} : { source: whole }),
  };
}

function shownOutput(text: string): ReturnType<typeof cutMiddle> {
  return cutMiddle(cleanText(text), SHOWN_OUTPUT, (leftOut) => `\n[… ${leftOut} characters left out …]\n`);
}

/** stdout as it is, so that code can read it again; with stderr, if there is any, below it. */
function wholeOutput({ stdout, stderr }: CodeResult): string {
  return stderr === '' ? stdout : `${stdout}\n--- stderr ---\n${stderr}`;
}

const SHOWN_FILES = 200;

function shownFiles(files: readonly string[]): readonly string[] {
  return files.length <= SHOWN_FILES ? files : [...files.slice(0, SHOWN_FILES), `... and ${files.length - SHOWN_FILES} more`];
}
