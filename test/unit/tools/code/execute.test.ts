import { expect, test } from 'vitest';
import { HandrailError } from '../../../../lib/core/errors.ts';
import { processResult } from '../../../../lib/core/hands/result.ts';
import { RESULT_BYTES } from '../../../../lib/core/limits.ts';
import type { CodeRequest, CodeResult, CodeRunner } from '../../../../lib/core/ports/code-runner.ts';
import { code, codeHandlers } from '../../../../lib/tools/code/category.ts';
import { toolContext } from '../../../support/tool-context.ts';
import { givenWorkspaces } from '../../../support/workspace.ts';

/** A runner that notes what it is asked. */
function fakeRunner(answer: CodeResult | HandrailError): CodeRunner & { requests: CodeRequest[] } {
  const requests: CodeRequest[] = [];
  return {
    requests,
    async run(request) {
      requests.push(request);
      if (answer instanceof HandrailError) throw answer;
      return answer;
    },
  };
}

const RESULT: CodeResult = { stdout: 'out', stderr: 'err', exitCode: 2, files: ['a.txt'] };

test.each([
  ['execute_shell', 'shell'],
  ['execute_python', 'python'],
  ['execute_javascript', 'javascript'],
] as const)('%s runs its code on the files of the session, and gives the result as JSON', async (tool, language) => {
  const { workspaces } = await givenWorkspaces();
  const runner = fakeRunner(RESULT);
  const context = toolContext({ timeoutMs: 30_000 });
  const output = await codeHandlers[tool]?.({ code: 'x', stdin: 'in' }, context, { workspaces, code: runner });
  expect(output).toEqual({ json: { exitCode: 2, stdout: 'out', stderr: 'err', files: ['a.txt'] } });
  expect(runner.requests).toMatchObject([{ language, code: 'x', stdin: 'in', signal: context.signal }]);
  const [request] = runner.requests;
  expect(request?.workspace).toBeDefined();
  expect(request?.timeoutMs, 'ends before the call does, so that the reason is told').toBeLessThan(30_000);
});

test('what the sandbox refuses goes on to the life cycle as it is', async () => {
  const { workspaces } = await givenWorkspaces();
  const runner = fakeRunner(new HandrailError('SANDBOX_CRASHED', 'it broke'));
  await expect(codeHandlers['execute_python']?.({ code: 'x' }, toolContext(), { workspaces, code: runner })).rejects.toMatchObject({
    code: 'SANDBOX_CRASHED',
  });
});

test('a script that changes a thousand files does not fill the result with their names', async () => {
  const { workspaces } = await givenWorkspaces();
  const runner = fakeRunner({ ...RESULT, files: Array.from({ length: 1_000 }, (_, index) => `f${index}`) });
  const output = await codeHandlers['execute_shell']?.({ code: 'x' }, toolContext(), { workspaces, code: runner });
  expect(output).toMatchObject({ json: { files: expect.arrayContaining(['f0', '... and 800 more']) } });
});

test('long output is shown by its beginning and end, as valid JSON, and kept whole', async () => {
  const { workspaces } = await givenWorkspaces();
  const stdout = `first "line"\n${'\u{1F600}x'.repeat(50_000)}\nlast line`;
  const kept: string[] = [];
  const keepWhole = async (whole: string): Promise<string> => {
    kept.push(whole);
    return 'kept-here';
  };
  const context = toolContext({ keepWhole });
  const runner = fakeRunner({ ...RESULT, stdout, stderr: 'a warning' });
  const output = await codeHandlers['execute_python']?.({ code: 'x' }, context, { workspaces, code: runner });
  const { data = '', metadata } = processResult(output ?? { text: '' }, { toolName: 'execute_python', duration: 1, now: 2 }, RESULT_BYTES);
  expect(metadata.truncated).toBe(false);
  expect(JSON.parse(data)).toEqual({
    exitCode: 2,
    whole: 'kept-here',
    stdout: expect.stringMatching(/^first "line"\n[\s\S]+\[… \d+ characters left out …\][\s\S]+\nlast line$/),
    stderr: 'a warning',
    files: ['a.txt'],
  });
  expect(JSON.parse(data).stdout.isWellFormed()).toBe(true);
  expect(kept).toEqual([`${stdout}\n--- stderr ---\na warning`]);
});

test('all are effects of code, none may run beside another or be repeated', () => {
  for (const tool of code.tools) {
    expect(tool).toMatchObject({ effectTags: ['code.exec'], parallelSafe: false, idempotent: false, timeoutMs: 30_000 });
    expect(tool.permissions.execution?.allowedCommands?.length).toBeGreaterThan(0);
    expect(tool.description).toContain('no network');
  }
});
