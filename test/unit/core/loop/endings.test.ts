import { describe, expect, it } from 'vitest';
import { itemBytes } from '../../../../lib/adapters/stores/dynamodb/codec.ts';
import { toRunItem } from '../../../../lib/adapters/stores/dynamodb/run-items.ts';
import { HandrailError } from '../../../../lib/core/errors.ts';
import { RESULT_BYTES, RUN_ITEM_BYTES } from '../../../../lib/core/limits.ts';
import type { Run } from '../../../../lib/core/loop/run.ts';
import { LoopRig, type RigOptions } from '../../../support/loop-rig.ts';
import { resultsIn } from '../../../support/replay.ts';
import { treeSkill as skill } from '../../../support/tree-skill.ts';

const ask: RigOptions['turns'] = [{ calls: [['run_bt_skill', { skill: 'visit', inputs: {} }]] }, 'done'];

/** Refuses a commit that is over `limit` bytes, as the real table does. */
function limitItems(rig: LoopRig, limit: number): void {
  const { commit } = rig.stores.runs;
  Object.assign(rig.stores.runs, {
    commit: async (run: Run, condition: Parameters<typeof commit>[1]) => {
      if (itemBytes(toRunItem(run)) >= limit) throw new HandrailError('RESOURCE_EXHAUSTED', `over ${limit} bytes`);
      return commit(run, condition);
    },
  });
}

describe('a run that cannot go on still ends', () => {
  it('when a deployment took its tree away while a node of it ran', async () => {
    const trees = skill('visit', 'root: { type: sequence, children: [ { type: tool, tool: look }, { type: tool, tool: look } ] }');
    const rig = new LoopRig({ trees: [trees], turns: ask });
    const { runId } = await rig.start('go', { sessionId: 's1' });
    while (rig.handled.size < 1) await rig.advance(`${runId}-1`);
    Object.assign(rig.deps, { trees: new Map() });
    await expect(rig.settle(runId)).rejects.toThrow('not there any more');
    rig.executions.set(`${runId}-1`, { at: 'closed', how: 'failed' });
    const run = await rig.settleClosed(await rig.get(runId), `${runId}-1`);
    expect(run).toMatchObject({ status: 'failed', outcome: 'error' });
    expect(rig.stores.state.permits?.leases).toEqual([]);
    expect(await rig.start('again', { sessionId: 's1' })).toMatchObject({ status: 'running' });
  });

  it('when its agent is not configured any more', async () => {
    const rig = new LoopRig({ turns: [{ calls: [['look', {}]] }, 'done'] });
    const { runId } = await rig.start();
    while (rig.handled.size < 1) await rig.advance(`${runId}-1`);
    Object.assign(rig.deps, { config: { ...rig.deps.config, agents: {} } });
    await expect(rig.settle(runId)).rejects.toThrow('no longer has the agent');
    rig.executions.set(`${runId}-1`, { at: 'closed', how: 'failed' });
    expect(await rig.settleClosed(await rig.get(runId), `${runId}-1`)).toMatchObject({ status: 'failed', outcome: 'error' });
  });

  it('when it has outgrown its item, with its calls answered and its permits given back', async () => {
    const rig = new LoopRig({
      tools: [{ definition: { name: 'look', parallelSafe: true } }],
      turns: [{ calls: [['look', {}]] }, { calls: Array.from({ length: 60 }, (_, index) => ['look', { index }] as const) }],
    });
    limitItems(rig, 20_000);
    const run = await rig.run('go', { sessionId: 's1' });
    expect(run).toMatchObject({ status: 'failed', outcome: 'error', error: { code: 'RESOURCE_EXHAUSTED' } });
    expect(rig.states.at(-1)).toBe('Finish');
    expect(rig.stores.state.permits?.leases).toEqual([]);
    expect(await rig.start('again', { sessionId: 's1' })).toMatchObject({ status: 'running' });
  });
});

describe('a tree with very many small values', () => {
  it('keeps them beside the run item', async () => {
    const value = 'v'.repeat(3_900);
    const nodes = Array.from({ length: 80 }, (_, index) => `{ type: tool, tool: look, output_key: k${index} }`);
    const trees = skill(
      'visit',
      `root: { type: sequence, children: [ ${nodes.join(', ')}, { type: set, key: skill_result, value: "{{k79}}" } ] }`,
    );
    const rig = new LoopRig({ trees: [trees], turns: ask, tools: [{ definition: { name: 'look' }, handle: () => value }] });
    limitItems(rig, RUN_ITEM_BYTES);
    expect(await rig.run()).toMatchObject({ status: 'succeeded', answer: 'done' });
    expect(resultsIn(rig.prompts.at(-1))[0]?.text).toContain(value);
  });

  it('answers with no more than any tool may', async () => {
    const trees = skill('visit', `root: { type: set, key: skill_result, value: ${'😀'.repeat(30_000)} }`);
    const rig = new LoopRig({ trees: [trees], turns: ask });
    const run = await rig.run();
    const [seen] = (await rig.transcript(run)).flatMap(({ message }) => (message.role === 'observation' ? [message.result] : []));
    expect(Buffer.byteLength(seen?.data ?? '')).toBeLessThanOrEqual(RESULT_BYTES);
    expect(seen).toMatchObject({ success: true, metadata: { truncated: true } });
  });
});

describe('constraints', () => {
  it('too large to be carried by every step are refused before the run begins', async () => {
    const rig = new LoopRig();
    const tool_policy = Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`tool_${index}`, 'deny' as const]));
    await expect(rig.start('go', { constraints: { guard: { tool_policy } } })).rejects.toMatchObject({
      code: 'PAYLOAD_TOO_LARGE',
      field: 'constraints',
    });
    expect(rig.stores.state.runs.size).toBe(0);
  });
});
