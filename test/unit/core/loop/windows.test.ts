import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Message } from '../../../../lib/core/loop/message.ts';
import { newRun, newTenant, prefixOf, writeOf } from '../../../contract/stores/samples.ts';
import { startTestStores, type TestStores } from '../../../support/dynalite.ts';
import { LoopRig, type Turn } from '../../../support/loop-rig.ts';
import { faultsIn, resultsIn } from '../../../support/replay.ts';

const many = (count: number, tool: string): Turn => ({ calls: Array.from({ length: count }, (_, index) => [tool, { index }] as const) });
const config = { constraints: { max_messages: 5 } };

describe('a window that is smaller than a batch', () => {
  it('shows the batch that was just answered whole, in parallel', async () => {
    const rig = new LoopRig({ config, tools: [{ definition: { name: 'look', parallelSafe: true } }], turns: [many(20, 'look'), 'done'] });
    expect(await rig.run()).toMatchObject({ answer: 'done' });
    expect(resultsIn(rig.prompts[1])).toHaveLength(20);
    expect(faultsIn(rig.prompts)).toEqual([]);
  });

  it('shows a batch whole of which each call was refused in the commit that asked for it', async () => {
    const rig = new LoopRig({ config, turns: (request) => (resultsIn(request).length === 0 ? many(20, 'nope') : 'done') });
    expect(await rig.run()).toMatchObject({ answer: 'done', frames: [{ iterations: 2 }] });
    expect(resultsIn(rig.prompts[1])).toHaveLength(20);
    expect(faultsIn(rig.prompts)).toEqual([]);
  });

  it('shows the task, and of older batches none in part', async () => {
    let turn = 0;
    const rig = new LoopRig({ config, turns: () => (turn++ < 4 ? many(3, 'look') : 'done') });
    await rig.run('the task');
    expect(faultsIn(rig.prompts)).toEqual([]);
    for (const { messages } of rig.prompts) {
      expect(messages[0]).toMatchObject({ role: 'user', text: expect.stringContaining('the task') });
      expect(messages.length).toBeLessThanOrEqual(3);
    }
  });

  it('does not begin a new run with part of the last batch of the one before', async () => {
    const rig = new LoopRig({ config: { constraints: { max_messages: 5, max_iterations: 1 } }, turns: [many(20, 'look')] });
    await rig.run('first', { sessionId: 's1' });
    await rig.run('second', { sessionId: 's1' });
    expect(faultsIn(rig.prompts)).toEqual([]);
    expect(rig.prompts[1]?.messages.at(-1)).toMatchObject({ role: 'user', text: 'second' });
  });
});

describe('two runs of a session', () => {
  it('have calls of the same ids, arguments and tools, and each its own results', async () => {
    let count = 0;
    const rig = new LoopRig({
      tools: [{ definition: { name: 'look' }, handle: () => `result ${++count}` }],
      turns: [{ calls: [['look', { at: 1 }]] }, { calls: [['look', { at: 2 }]] }, 'done'],
      config: { constraints: { guard: { tool_policy: { look: 'allow' } } } },
    });
    const first = await rig.run('one', { sessionId: 's1' });
    const second = await rig.run('two', { sessionId: 's1' });
    expect([first, second].map(({ step }) => step)).toEqual([3, 3]);
    expect(faultsIn(rig.prompts)).toEqual([]);
    const last = rig.prompts
      .at(-1)
      ?.messages.flatMap((message) => (message.role === 'tool' ? message.results.map(({ text }) => text) : []));
    expect(last).toEqual(['result 1', 'result 2', 'result 3', 'result 4']);
  });

  it('gives an edited call of the second run its own arguments', async () => {
    const seen: unknown[] = [];
    const rig = new LoopRig({
      tools: [{ definition: { name: 'look' }, handle: (args) => `seen ${seen.push(args)}` }],
      turns: [{ calls: [['look', { at: 1 }]] }, 'done'],
      config: { constraints: { guard: { tool_policy: { look: 'confirm' } } } },
    });
    for (const [input, at] of [
      ['one', 10],
      ['two', undefined],
    ] as const) {
      const { runId } = await rig.run(input, { sessionId: 's1' });
      const [approvalId = ''] = await rig.pending(runId);
      await rig.decide([{ approvalId, decision: 'approve', ...(at === undefined ? {} : { arguments: { at } }) }]);
      await rig.settle(runId);
    }
    expect(seen).toEqual([{ at: 10 }, { at: 1 }]);
  });
});

describe('an assistant message that is larger than an item', () => {
  let stores: TestStores;
  beforeAll(async () => {
    stores = await startTestStores();
  });
  afterAll(() => stores.close());

  it('is stored in parts and read back whole, however little is asked for', async () => {
    const run = newRun(newTenant());
    const calls = Array.from({ length: 10 }, (_, index) => ({
      callId: `c1-${index}`,
      tool: 'write_file',
      arguments: { content: `${'ä😀"'.repeat(15_000)}${index}` },
    }));
    const said: Message = { role: 'assistant', text: '😀'.repeat(100_000), calls };
    const seen = calls.map(
      ({ callId }): Message => ({
        role: 'observation',
        callId,
        tool: 'write_file',
        result: { success: true, data: 'ok', metadata: { toolName: 'write_file', duration: 0, truncated: false, timestamp: 0 } },
        untrusted: false,
      }),
    );
    const first = prefixOf(1, 1, 'aaaaaaaa');
    const second = prefixOf(1, 2, 'bbbbbbbb');
    await stores.runs.write(run, run.sessionId, [writeOf(first, undefined, { role: 'user', text: 'go' }, said)], []);
    await stores.runs.write(run, run.sessionId, [writeOf(second, first, ...seen)], []);
    const whole = await stores.runs.readTranscript(run, second, 100);
    expect(whole.map(({ message }) => message)).toEqual([{ role: 'user', text: 'go' }, said, ...seen]);
    const through = await stores.runs.readTranscript(run, second, 1, { runSeq: 1, step: 1 });
    expect(through.map(({ message }) => message)).toEqual([said, ...seen]);
  });
});
