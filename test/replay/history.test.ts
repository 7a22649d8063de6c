import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readArguments } from '../../lib/core/hands/arguments.ts';
import { processResult } from '../../lib/core/hands/result.ts';
import { RESULT_BYTES } from '../../lib/core/limits.ts';
import { newRun, newTenant } from '../contract/stores/samples.ts';
import { startTestStores, type TestStores } from '../support/dynalite.ts';
import { LoopRig } from '../support/loop-rig.ts';
import { faultsIn, type ReplayServer, replayServer, resultsIn } from '../support/replay.ts';

const HALF = '\ud83d';

describe('replays about history, size and text', () => {
  let server: ReplayServer;
  beforeAll(async () => {
    server = await replayServer({ constraints: { guard: { tool_policy: { write_file: 'confirm' } } } });
  });
  afterAll(() => server.close());

  it('R53: a call that was cancelled while it ran is told as cancelled, maybe half done', async () => {
    const { runId } = await server.play([{ calls: [['execute_shell', { code: 'echo half > a.txt; sleep 20; echo done' }]] }], {
      sessionId: 'r53',
    });
    await server.api.until('the call to be in flight', async () =>
      (await server.api.events(runId)).find(({ type }) => type === 'tool.call.started'),
    );
    await server.api.call('POST', `/runs/${runId}/cancel`);
    expect(await server.api.ended(runId)).toMatchObject({ status: 'cancelled', outcome: 'cancelled', effects: {} });
    const failed = (await server.api.events(runId)).filter(({ type }) => type === 'tool.call.failed');
    expect(failed).toMatchObject([{ data: { error: { code: 'CANCELLED', message: expect.stringContaining('half done') } } }]);
    const next = await server.play(['done'], { sessionId: 'r53' });
    await server.api.ended(next.runId);
    expect(faultsIn(next.prompts)).toEqual([]);
    expect(resultsIn(next.prompts[0])).toMatchObject([{ isError: true, text: expect.stringMatching(/^CANCELLED:[\s\S]*half done/) }]);
  });

  it('R55: a suspension as large as may be can be decided and resumed', { timeout: 60_000 }, async () => {
    const paths = Array.from({ length: 12 }, (_, index) => `large-${index}.txt`);
    const { runId, prompts } = await server.play([
      { calls: paths.map((path) => ['write_file', { path, content: 'ä'.repeat(60_000), mode: 'overwrite' }] as const) },
      'done',
    ]);
    const approvals = await server.api.approvals(runId, paths.length);
    for (const { arguments: args, argumentsCut } of approvals)
      expect({ path: args.path, argumentsCut }).toMatchObject({ argumentsCut: true });
    const decisions = approvals.map(({ approvalId }) => ({ approvalId, decision: 'approve', reason: 'r'.repeat(2_000) }));
    expect(await server.api.call('POST', '/approvals', { decisions })).toMatchObject({ status: 200 });
    expect(await server.api.ended(runId)).toMatchObject({ status: 'succeeded', answer: 'done', effects: { 'fs.write': paths.length } });
    expect(faultsIn(prompts)).toEqual([]);
    expect(resultsIn(prompts[1]).every(({ text }) => text.includes('120000'))).toBe(true);
  });

  it('R55: edits too large to be kept together are refused one by one, and smaller ones still go', { timeout: 60_000 }, async () => {
    const { runId } = await server.play([
      { calls: [0, 1, 2, 3].map((index) => ['write_file', { path: `e${index}.txt`, content: 'x', mode: 'overwrite' }] as const) },
      'done',
    ]);
    const approvals = await server.api.approvals(runId, 4);
    const edit = (index: number, size: number) =>
      server.api.call('POST', `/approvals/${approvals[index].approvalId}`, {
        decision: 'approve',
        arguments: { path: `e${index}.txt`, content: 'y'.repeat(size), mode: 'overwrite' },
      });
    const statuses = [];
    for (const index of [0, 1, 2, 3]) statuses.push((await edit(index, 120_000)).status);
    expect(statuses).toEqual([200, 200, 200, 413]);
    expect((await edit(3, 1_000)).status).toBe(200);
    expect(await server.api.ended(runId)).toMatchObject({ status: 'succeeded', effects: { 'fs.write': 4 } });
  });

  it.each([0, 1, 2, 3])('R57: an emoji on the boundary of a result, %i bytes before it, is left out whole', async (shift) => {
    const rig = new LoopRig({
      tools: [{ definition: { name: 'look' }, handle: () => `${'a'.repeat(shift)}${'😀'.repeat(RESULT_BYTES / 4)}${'😀'.repeat(5)}` }],
      turns: [{ calls: [['look', {}]] }, 'done'],
    });
    expect(await rig.run()).toMatchObject({ status: 'succeeded' });
    const [result] = resultsIn(rig.prompts[1]);
    expect(result?.text.isWellFormed()).toBe(true);
    expect(result?.text).not.toContain('\ufffd');
    expect(result?.text).toMatch(/😀\n\n\.\.\. \(result too long/u);
  });

  it('R57: half a character in input, answer, thought, reason, tool text or name reaches no provider and no client', async () => {
    const input = `Look at ${HALF}`;
    const turns = [
      {
        text: `Thinking ${HALF}`,
        calls: [
          ['write_file', { path: 'a.md', content: 'x' }],
          [`bad${HALF}`, {}],
          ['list_directory', `{"path":"${HALF}"}`],
          ['list_directory', `${HALF}`],
        ] as const,
      },
      `Answer ${HALF}`,
    ];
    const { runId, prompts } = await server.play(turns, { sessionId: 'r57' });
    const [{ approvalId }] = await server.api.approvals(runId, 1);
    await server.api.call('POST', `/approvals/${approvalId}`, { decision: 'reject', reason: `no ${HALF}` });
    const run = await server.api.ended(runId);
    const next = await server.play(['done'], { sessionId: 'r57' });
    await server.api.ended(next.runId);
    const started = await server.api.call('POST', '/runs', { input });
    expect(started.status).toBe(202);
    const shown = [
      prompts,
      next.prompts,
      run,
      await server.api.events(runId),
      (await server.api.call('GET', '/approvals?status=all')).body,
    ];
    for (const part of shown) expect(textsIn(part).filter((text) => !text.isWellFormed())).toEqual([]);
    expect(faultsIn([...prompts, ...next.prompts])).toEqual([]);
  });

  it('R57: an error of the model that is cut within a character stays readable', async () => {
    for (const shift of [0, 1]) {
      const rig = new LoopRig({
        turns: () => {
          throw new Error(`${'a'.repeat(shift)}${'😀'.repeat(2_000)}`);
        },
      });
      const run = await rig.run();
      const events = await rig.stores.runs.readEvents(run, 0);
      expect(textsIn([run, events]).filter((text) => !text.isWellFormed())).toEqual([]);
    }
  });

  describe('R59: values that JSON has no word for', () => {
    let stores: TestStores;
    beforeAll(async () => {
      stores = await startTestStores();
    });
    afterAll(() => stores.close());

    it('are named in a result, and the same before and after the store', async () => {
      const odd = { gone: undefined, nan: Number.NaN, inf: Number.POSITIVE_INFINITY, empty: '', set: new Set(), date: new Date(0) };
      const result = processResult({ json: odd }, { toolName: 'look', duration: 1, now: 1 }, RESULT_BYTES);
      const run = newRun(newTenant());
      const prefix = 'MSG#main#000001#000001#abcdefgh#';
      const message = { role: 'observation' as const, callId: 'c1-0', tool: 'look', result, untrusted: false };
      await stores.runs.write(run, run.sessionId, [{ prefix, prev: undefined, messages: [message] }], []);
      const [read] = await stores.runs.readTranscript(run, prefix, 1);
      expect(read?.message).toEqual(message);
      expect(JSON.parse(result.data ?? '')).toEqual({ nan: 'NaN', inf: 'Infinity', empty: '', set: [], date: '1970-01-01T00:00:00.000Z' });
    });

    it.each([
      ['NaN', { depth: Number.NaN }],
      ['Infinity', { depth: Number.POSITIVE_INFINITY }],
      ['a Set', { path: new Set() }],
      ['a Date', { path: new Date(0) }],
    ])('are refused in arguments, never changed: %s', async (_what, args) => {
      const definition = { name: 'look', parameters: { type: 'object', additionalProperties: true } };
      expect(readArguments(args as never, definition)).toMatchObject({ ok: false, error: { code: 'INVALID_ARGUMENTS' } });
    });

    it('undefined is absent and "" is kept', async () => {
      const definition = { name: 'look', parameters: { type: 'object', additionalProperties: true } };
      expect(readArguments({ a: undefined, b: '' } as never, definition)).toMatchObject({ ok: true, arguments: { b: '' } });
    });

    it.each(['{"depth": NaN}', '{"depth": Infinity}', '{"depth": undefined}'])('are told to the model that wrote %s', async (args) => {
      const { runId, prompts } = await server.play([{ calls: [['list_directory', args]] }, 'done']);
      expect(await server.api.ended(runId)).toMatchObject({ status: 'succeeded' });
      expect(resultsIn(prompts[1])).toMatchObject([{ isError: true, text: expect.stringContaining('INVALID_ARGUMENTS') }]);
    });
  });
});

/** Every text in a value, keys included. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  return typeof value === 'object' && value !== null ? Object.entries(value).flatMap(([key, item]) => [key, ...textsIn(item)]) : [];
}
