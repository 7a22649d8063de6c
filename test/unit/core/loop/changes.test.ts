import { describe, expect, it } from 'vitest';
import { HandrailError } from '../../../../lib/core/errors.ts';
import { defineTool } from '../../../../lib/core/hands/define-tool.ts';
import { RESULT_BYTES } from '../../../../lib/core/limits.ts';
import { LoopRig, NO_FAULTS, type RigOptions } from '../../../support/loop-rig.ts';
import { faultsIn, resultsIn } from '../../../support/replay.ts';

const three: RigOptions['turns'] = [{ calls: [1, 2, 3].map((at) => ['look', { at }] as const) }, 'done'];
const codesIn = (rig: LoopRig): (string | undefined)[] => resultsIn(rig.prompts.at(-1)).map(({ text }) => /^[A-Z_]+(?=:)/.exec(text)?.[0]);

/** Drives a run until its first call has been observed and the second is in flight no more than planned. */
async function afterFirstStage(rig: LoopRig): Promise<string> {
  const { runId } = await rig.start();
  while (rig.handled.size < 1) await rig.advance(`${runId}-1`);
  return runId;
}

const policy = (rig: LoopRig, rule: 'deny' | 'confirm'): void => {
  rig.stores.state.policies.set('t1', { v: 1, version: 1, guard: { tool_policy: { look: rule } }, updatedAt: 0, updatedBy: 'ann' });
};

describe('what changes between the stages of a batch', () => {
  it('a policy that now denies answers the calls that have not run, and no other', async () => {
    const rig = new LoopRig({ turns: three });
    const runId = await afterFirstStage(rig);
    policy(rig, 'deny');
    expect(await rig.settle(runId)).toMatchObject({ status: 'succeeded' });
    expect(codesIn(rig)).toEqual([undefined, 'GUARD_DENIED', 'GUARD_DENIED']);
    expect(rig.handled.size).toBe(1);
    expect(faultsIn(rig.prompts)).toEqual([]);
  });

  it('a policy that now asks suspends for the calls that have not run', async () => {
    const rig = new LoopRig({ turns: three });
    const runId = await afterFirstStage(rig);
    policy(rig, 'confirm');
    expect(await rig.settle(runId)).toMatchObject({ status: 'waiting' });
    const pending = await rig.pending(runId);
    expect(pending.map((id) => id.slice(id.lastIndexOf('.') + 1))).toEqual(['c1-1', 'c1-2']);
    await rig.decide(pending.map((approvalId) => ({ approvalId, decision: 'approve' })));
    expect(await rig.settle(runId)).toMatchObject({ status: 'succeeded' });
    expect([...rig.handled.values()]).toEqual([1, 1, 1]);
  });

  it('a tool that is not there any more is answered and not dispatched', async () => {
    const rig = new LoopRig({ turns: three });
    const runId = await afterFirstStage(rig);
    rig.deps.registry.unregister('look');
    expect(await rig.settle(runId)).toMatchObject({ status: 'succeeded' });
    expect(codesIn(rig)).toEqual([undefined, 'TOOL_NOT_FOUND', 'TOOL_NOT_FOUND']);
    expect(rig.handled.size).toBe(1);
    expect(faultsIn(rig.prompts)).toEqual([]);
  });

  it('a permission that is not given any more is looked at again', async () => {
    const rig = new LoopRig({ turns: three });
    const runId = await afterFirstStage(rig);
    Object.assign(rig.deps.registry, { deniedPermissions: () => new HandrailError('PERMISSION_DENIED', 'network.allowedDomains: "*"') });
    expect(await rig.settle(runId)).toMatchObject({ status: 'succeeded' });
    expect(codesIn(rig)).toEqual([undefined, 'PERMISSION_DENIED', 'PERMISSION_DENIED']);
  });

  it('arguments that the tool of today does not take are not run, though a person approved them', async () => {
    const rig = new LoopRig({
      turns: [{ calls: [['look', { at: 1 }]] }, 'done'],
      config: { constraints: { guard: { tool_policy: { look: 'confirm' } } } },
    });
    const { runId } = await rig.run();
    const [approvalId = ''] = await rig.pending(runId);
    await rig.decide([{ approvalId, decision: 'approve' }]);
    rig.deps.registry.unregister('look');
    rig.deps.registry.register(
      defineTool({
        name: 'look',
        description: 'd',
        category: 'file',
        parameters: { type: 'object', properties: { where: { type: 'string' } }, required: ['where'] },
      }),
    );
    expect(await rig.settle(runId)).toMatchObject({ status: 'succeeded' });
    expect(codesIn(rig)).toEqual(['INVALID_ARGUMENTS']);
    expect(rig.handled.size).toBe(0);
  });

  it('a tool that goes away between the commit and its dispatch leaves the run whole', async () => {
    const rig = new LoopRig({ turns: [{ calls: [['look', {}]] }, 'done'] });
    let lost = 0;
    rig.faults = {
      ...NO_FAULTS,
      lost: (lambda) => {
        if (lambda !== 'reason' || lost++ > 0) return;
        rig.deps.registry.unregister('look');
        throw new Error('lost');
      },
    };
    expect(await rig.run()).toMatchObject({ status: 'succeeded', answer: 'done' });
    expect(resultsIn(rig.prompts[1])).toHaveLength(1);
    expect(faultsIn(rig.prompts)).toEqual([]);
    expect(rig.stores.state.permits?.leases).toEqual([]);
  });
});

describe('a result', () => {
  it.each([
    [RESULT_BYTES - 1, false],
    [RESULT_BYTES, false],
    [RESULT_BYTES + 1, true],
  ])('of %i bytes, with 51200 to spend, is cut: %s', async (bytes, cut) => {
    const rig = new LoopRig({
      tools: [{ definition: { name: 'look' }, handle: () => 'x'.repeat(bytes) }],
      turns: [{ calls: [['look', {}]] }, 'done'],
    });
    const run = await rig.run();
    const [seen] = (await rig.transcript(run)).flatMap(({ message }) => (message.role === 'observation' ? [message.result] : []));
    expect(seen?.metadata.truncated).toBe(cut);
    expect(seen?.data?.length).toBeLessThanOrEqual(RESULT_BYTES);
    expect(seen?.data?.length).toBeGreaterThan(RESULT_BYTES - 8);
  });
});
