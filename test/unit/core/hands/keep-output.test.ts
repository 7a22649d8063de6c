import { describe, expect, test } from 'vitest';
import { keepOutput, OUTPUT_DIRECTORY, outputKeeper } from '../../../../lib/core/hands/keep-output.ts';
import { FILE_BYTES, KEPT_OUTPUTS } from '../../../../lib/core/limits.ts';
import { readFile } from '../../../../lib/tools/file/read-file.ts';
import { toolContext } from '../../../support/tool-context.ts';
import { givenWorkspaces, readText, text } from '../../../support/workspace.ts';

const RUN = `r-${'0'.repeat(18)}aaaaaaaa`;
const LATER = `r-${'0'.repeat(18)}bbbbbbbb`;

describe('an output that is kept', () => {
  test('is a file that read_file reads in parts', async () => {
    const { workspaces } = await givenWorkspaces();
    const workspace = await workspaces.open(toolContext());
    const path = await keepOutput(workspace, { callId: 'c1-0', runId: RUN }, 'one\ntwo\u001b[31m\nthree\ud83d');
    expect(path).toBe('.handrail/output/c1-0');
    expect(await readFile({ path: path ?? '', start_line: 2 }, toolContext(), { workspaces })).toEqual({
      text: '(lines 2 to 3 of 3)\ntwo\nthree\ufffd',
      source: path,
    });
  });

  test('never takes the place of what an earlier run has left under the same call id', async () => {
    const { workspaces } = await givenWorkspaces();
    const workspace = await workspaces.open(toolContext());
    const first = await keepOutput(workspace, { callId: 'c1-0', runId: RUN }, 'first');
    const second = await keepOutput(workspace, { callId: 'c1-0', runId: LATER }, 'second');
    expect(second).toBe('.handrail/output/c1-0-bbbbbbbb');
    expect(await readText(workspace, first ?? '')).toBe('first');
    expect(await readText(workspace, second ?? '')).toBe('second');
  });

  test('goes when there are newer ones enough', async () => {
    const { workspaces } = await givenWorkspaces();
    const workspace = await workspaces.open(toolContext());
    for (let index = 0; index < KEPT_OUTPUTS + 3; index++) await keepOutput(workspace, { callId: `c${index + 1}-0`, runId: RUN }, 'x');
    const kept = await workspace.list(OUTPUT_DIRECTORY, { depth: 1, limit: 100 });
    expect(kept).toHaveLength(KEPT_OUTPUTS);
    expect(kept.map(({ path }) => path)).toContain(`${OUTPUT_DIRECTORY}/c${KEPT_OUTPUTS + 3}-0`);
  });

  test.each([
    ['is too large for a file', async () => 'x'.repeat(FILE_BYTES + 1)],
    [
      'does not fit into the quota',
      async (workspace: Awaited<ReturnType<typeof open>>) => {
        for (let index = 0; index < 10; index++) await workspace.write(`big${index}`, new Uint8Array(FILE_BYTES), 'create');
        return 'x';
      },
    ],
    [
      'has no place, since somebody has put a file there',
      async (workspace: Awaited<ReturnType<typeof open>>) => {
        await workspace.write('.handrail', text('mine'), 'create');
        return 'x';
      },
    ],
  ])('is not kept when it %s', async (_why, given) => {
    const workspace = await open();
    const output = await given(workspace);
    expect(await keepOutput(workspace, { callId: 'c1-0', runId: RUN }, output)).toBeUndefined();
  });
});

async function open() {
  const { workspaces } = await givenWorkspaces();
  return workspaces.open(toolContext());
}

test('only calls of categories with files have a place to keep it', async () => {
  const { workspaces } = await givenWorkspaces();
  const keep = outputKeeper(workspaces, [
    { name: 'file', needs: ['workspace'] },
    { name: 'network', needs: ['network'] },
  ]);
  const call = {
    callId: 'c1-0',
    tool: 't',
    functionName: 'f',
    arguments: {},
    timeoutMs: 1,
    idempotent: false,
    maxRetries: 0,
    resultBudget: 1,
    tenant: 'acme',
    sessionId: 's1',
    namespace: 'main',
    runId: RUN,
  };
  expect(await keep({ ...call, category: 'file' }, 'x')).toBe('.handrail/output/c1-0');
  expect(await keep({ ...call, category: 'network' }, 'x')).toBeUndefined();
  expect(await keep({ ...call, category: '__proto__' }, 'x')).toBeUndefined();
});
