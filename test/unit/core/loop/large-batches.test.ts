import { describe, expect, it } from 'vitest';
import { itemBytes } from '../../../../lib/adapters/stores/dynamodb/codec.ts';
import { toRunItem } from '../../../../lib/adapters/stores/dynamodb/run-items.ts';
import type { ConfigInput } from '../../../../lib/core/config.ts';
import { jsonBytes } from '../../../../lib/core/json.ts';
import { ARGUMENTS_BYTES, BATCH_CALLS, INPUT_BYTES, RUN_ITEM_BYTES, STATE_DATA_BYTES } from '../../../../lib/core/limits.ts';
import type { Run } from '../../../../lib/core/loop/run.ts';
import { LoopRig, type RigOptions, type RigTool, type Turn } from '../../../support/loop-rig.ts';
import { faultsIn, resultsIn } from '../../../support/replay.ts';

/** Argument text that takes the most room as a preview. */
const WIDE = '\u4e16'.repeat(600);
const many = (count: number, tool: string, args: (index: number) => Record<string, string | number>): Turn => ({
  calls: Array.from({ length: count }, (_, index) => [tool, args(index)] as const),
});

interface Sizes {
  /** The run item at its largest. */
  item: number;
  /** State data at its largest: an answer of `reason`, or the results of a stage. */
  state: number;
}

/** Drives a run to where only a person can take it on, and measures. Its input is as long as may be. */
async function measured(rig: LoopRig): Promise<{ run: Run; sizes: Sizes }> {
  const sizes: Sizes = { item: 0, state: 0 };
  const { runId } = await rig.start('x'.repeat(INPUT_BYTES));
  await drive(rig, runId, sizes);
  return { run: await rig.get(runId), sizes };
}

async function drive(rig: LoopRig, runId: string, sizes: Sizes): Promise<void> {
  for (let moved = true; moved; ) {
    moved = false;
    for (const name of rig.executions.keys()) {
      while (await rig.advance(name)) {
        moved = true;
        const state = rig.executions.get(name);
        sizes.item = Math.max(sizes.item, itemBytes(toRunItem(await rig.get(runId))));
        if (state?.at === 'route') sizes.state = Math.max(sizes.state, jsonBytes(state.output));
        if (state?.at === 'reason') sizes.state = Math.max(sizes.state, jsonBytes(state.data));
      }
    }
  }
}

const fast: Partial<RigTool> & { definition: RigTool['definition'] } = { definition: { name: 'look', parallelSafe: true } };
const roomy: ConfigInput = { hands: { concurrency: { global: 1_000, categories: { file: 1_000 } } } };

describe('a message of very many calls', () => {
  it.each<[string, RigOptions, Turn]>([
    ['parallel', { tools: [fast], config: roomy }, many(BATCH_CALLS, 'look', (index) => ({ index, text: WIDE }))],
    ['parallel, few permits', { tools: [fast] }, many(BATCH_CALLS, 'look', (index) => ({ index, text: WIDE }))],
    ['serial', {}, many(BATCH_CALLS, 'look', (index) => ({ index, text: WIDE }))],
    ['unknown', {}, many(BATCH_CALLS, `no_such_tool_${'x'.repeat(200)}`, (index) => ({ index }))],
    ['more than are looked at', {}, many(900, 'look', (index) => ({ index, text: 'short' }))],
    ['more than are looked at, all unknown', {}, many(900, 'nope', (index) => ({ index, text: WIDE }))],
    [
      'denied',
      { config: { constraints: { guard: { tool_policy: { look: { policy: 'deny', when: { type: 'object', required: ['text'] } } } } } } },
      many(BATCH_CALLS, 'look', (index) => ({ index, text: WIDE })),
    ],
    [
      'failing with long messages',
      {
        config: roomy,
        tools: [
          {
            ...fast,
            handle: () => {
              throw new Error(`"\\${WIDE}`);
            },
          },
        ],
      },
      many(BATCH_CALLS, 'look', (index) => ({ index })),
    ],
    [
      'with large results',
      { config: roomy, tools: [{ ...fast, handle: () => `"\\${WIDE.repeat(4)}` }] },
      many(BATCH_CALLS, 'look', (index) => ({ index })),
    ],
  ])('%s: each is answered once and nothing grows too large', { timeout: 60_000 }, async (_what, options, turn) => {
    const rig = new LoopRig({ ...options, turns: [turn, 'done'] });
    const { run, sizes } = await measured(rig);
    expect(run).toMatchObject({ status: 'succeeded', answer: 'done' });
    expect(faultsIn(rig.prompts)).toEqual([]);
    expect(resultsIn(rig.prompts[1]).length).toBeGreaterThanOrEqual(BATCH_CALLS);
    expect(sizes.item).toBeLessThan(RUN_ITEM_BYTES);
    expect(sizes.state).toBeLessThan(STATE_DATA_BYTES);
    expect(Math.max(...rig.handled.values(), 0)).toBeLessThanOrEqual(1);
  });

  it('waits for a person on all of them, and takes all decisions', { timeout: 60_000 }, async () => {
    const rig = new LoopRig({
      turns: [many(BATCH_CALLS, 'look', (index) => ({ index, text: WIDE })), 'done'],
      config: { constraints: { guard: { tool_policy: { look: 'confirm' } } } },
    });
    const { run, sizes } = await measured(rig);
    expect(run.status).toBe('waiting');
    const pending = await rig.pending(run.runId);
    expect(pending).toHaveLength(BATCH_CALLS);
    await rig.decide(pending.map((approvalId, index) => ({ approvalId, decision: index % 2 === 0 ? 'approve' : 'reject' })));
    await drive(rig, run.runId, sizes);
    expect(await rig.get(run.runId)).toMatchObject({ status: 'succeeded' });
    expect(rig.handled.size).toBe(BATCH_CALLS / 2);
    expect(sizes.item).toBeLessThan(RUN_ITEM_BYTES);
  });

  it('ends as cancelled with every call answered', async () => {
    const rig = new LoopRig({
      turns: [many(BATCH_CALLS, 'look', (index) => ({ index, text: WIDE }))],
      config: { constraints: { guard: { tool_policy: { look: 'confirm' } } } },
    });
    const { run, sizes } = await measured(rig);
    await rig.cancel(run.runId);
    await drive(rig, run.runId, sizes);
    const ended = await rig.get(run.runId);
    expect(ended).toMatchObject({ status: 'cancelled' });
    const observed = (await rig.transcript(ended)).filter(({ message }) => message.role === 'observation');
    expect(observed).toHaveLength(BATCH_CALLS);
    expect(sizes.item).toBeLessThan(RUN_ITEM_BYTES);
  });

  it.each([0, 1_000, 5_000])(
    'of the largest arguments, with paths of %i characters beside, is split into stages that fit',
    { timeout: 60_000 },
    async (extra) => {
      const content = 'ä'.repeat((ARGUMENTS_BYTES - 100) / 2 - extra);
      const rig = new LoopRig({ tools: [fast], config: roomy, turns: [many(6, 'look', (index) => ({ index, content })), 'done'] });
      const { run, sizes } = await measured(rig);
      expect(run).toMatchObject({ status: 'succeeded' });
      expect(rig.handled.size).toBe(6);
      expect(rig.states.filter((state) => state === 'Act')).toHaveLength(6);
      expect(sizes.state).toBeLessThan(STATE_DATA_BYTES);
    },
  );

  it.each(['serial', 'parallel'] as const)('sixty, %s, are answered in the order asked', { timeout: 60_000 }, async (mode) => {
    const rig = new LoopRig({
      tools: [{ definition: { name: 'look' }, handle: ({ index }) => `number ${index}` }],
      config: { agents: { default: { mode } } },
      turns: [many(60, 'look', (index) => ({ index })), 'done'],
    });
    expect(await rig.run()).toMatchObject({ status: 'succeeded' });
    expect(resultsIn(rig.prompts[1]).map(({ text }) => text)).toEqual(Array.from({ length: 60 }, (_, index) => `number ${index}`));
    expect(rig.states.filter((state) => state === 'Act').length).toBe(mode === 'serial' ? 60 : 12);
  });
});

describe('a long answer', () => {
  it('ends the run whatever its length', async () => {
    const rig = new LoopRig({ turns: ['ä'.repeat(400_000)] });
    const { run, sizes } = await measured(rig);
    expect(run).toMatchObject({ status: 'succeeded', outcome: 'completed' });
    expect(sizes.item).toBeLessThan(RUN_ITEM_BYTES);
    const [last] = (await rig.transcript(run)).slice(-1);
    expect(last?.message).toMatchObject({ role: 'assistant', text: 'ä'.repeat(400_000) });
  });

  it('is kept as the best there is when the run ends at a limit', async () => {
    const rig = new LoopRig({
      config: { constraints: { max_iterations: 1 } },
      turns: [{ text: 'ä'.repeat(400_000), calls: [['look', {}]] }],
    });
    const { run, sizes } = await measured(rig);
    expect(run).toMatchObject({ outcome: 'iteration_limit' });
    expect(run.answer).toMatch(/^ä{1000}/);
    expect(sizes.item).toBeLessThan(RUN_ITEM_BYTES);
  });
});
