import { describe, expect, it } from 'vitest';
import { changePolicy } from '../../../../lib/core/guard/change-policy.ts';
import type { GuardConstraints } from '../../../../lib/core/guard/constraints.ts';
import { cancelRun } from '../../../../lib/core/loop/cancel.ts';
import type { Run } from '../../../../lib/core/loop/run.ts';
import { LoopRig, type RigTool } from '../../../support/loop-rig.ts';

const tools: readonly RigTool[] = [{ definition: { name: 'look' } }];
const events = async (rig: LoopRig, run: Run) => rig.stores.runs.readEvents(run, 0);
const setPolicy = (rig: LoopRig, guard: GuardConstraints) =>
  changePolicy(
    { guard: rig.stores.guard, clock: rig.clock, operatorTenant: 't1' },
    { tenant: 't1', principal: 'ops', scope: 'tenant', version: 0, guard },
  );

/** Asks to cancel after a few polls, half a minute late. */
async function cancelLate(rig: LoopRig, runId: string): Promise<void> {
  for (let n = 0; n < 5; n++) for (const name of rig.executions.keys()) await rig.advance(name);
  rig.clock.advance(31_000);
  await rig.cancel(runId);
}

describe('a request to cancel', () => {
  it('stands in the event log once, by who asked first, also when that request died half way', async () => {
    const rig = new LoopRig({
      tools,
      config: { constraints: { guard: { tool_policy: { look: 'confirm' } } } },
      turns: [{ calls: [['look', {}]] }],
    });
    const { runId } = await rig.run();
    const { faults } = rig;
    rig.faults = {
      ...faults,
      before(operation) {
        if (operation.includes('write')) throw new Error('killed');
      },
    };
    await expect(rig.cancel(runId)).rejects.toThrow('killed');
    rig.faults = faults;
    await rig.cancel(runId);
    await rig.cancel(runId);
    const run = await rig.settle(runId);
    expect(run.status).toBe('cancelled');
    expect((await events(rig, run)).filter(({ type }) => type === 'run.cancel_requested')).toHaveLength(1);
  });

  it('that two make at once is told as made by the one whose mark stands', async () => {
    const rig = new LoopRig({ tools, turns: ['done'] });
    const run = await rig.start();
    let other: Promise<Run> | undefined;
    rig.faults = {
      ...rig.faults,
      before(operation) {
        // Ann's mark stands; bob, who read the run before it, comes to his own while she tells.
        if (operation === 'write') other ??= cancelRun({ ...rig.deps, runs: { ...rig.deps.runs, getRun: async () => run } }, run, 'bob');
      },
    };
    await rig.cancel(run.runId);
    await other;
    const told = (await events(rig, run)).filter(({ type }) => type === 'run.cancel_requested');
    expect(told).toMatchObject([{ data: { by: 'ann' } }]);
  });

  it('that meets a run just as it leaves `starting` is recorded as made by who asked', async () => {
    const rig = new LoopRig({ tools, turns: ['done'] });
    let asked: Promise<Run> | undefined;
    rig.faults = {
      ...rig.faults,
      before(operation) {
        const [run] = rig.stores.state.runs.values();
        if (operation === 'deleteStarting' && run) run.status = 'running';
        if (operation === 'swapSession' && run) asked ??= cancelRun(rig.deps, run, 'bob');
      },
    };
    const { runId } = await rig.start('go', { principal: 'ann' });
    await asked;
    const run = await rig.settle(runId);
    expect(run.status).toBe('cancelled');
    expect((await events(rig, run)).filter(({ type }) => type === 'run.cancel_requested')).toMatchObject([{ data: { by: 'bob' } }]);
  });
});

describe('waiting for a permit', () => {
  it('does not go on while people decide', async () => {
    const rig = new LoopRig({
      tools: [{ definition: { name: 'look', parallelSafe: true } }],
      config: { approvals: { ttl_ms: 3_600_000 } },
      turns: [{ calls: [['look', {}]] }, 'done'],
    });
    const { tools: limits } = rig.deps.config.hands.concurrency;
    limits['look'] = 0;
    const { runId } = await rig.start();
    for (let n = 0; n < 3; n++) for (const name of rig.executions.keys()) await rig.advance(name);
    await setPolicy(rig, { tool_policy: { look: 'confirm' } });
    for (let n = 0; n < 4; n++) for (const name of rig.executions.keys()) await rig.advance(name);
    const [approvalId = ''] = await rig.pending(runId);
    rig.clock.advance(600_000);
    await rig.decide([{ approvalId, decision: 'approve' }]);
    for (let n = 0; n < 4; n++) for (const name of rig.executions.keys()) await rig.advance(name);
    limits['look'] = 1;
    const run = await rig.settle(runId);
    expect(rig.handled.size).toBe(1);
    expect(run.status).toBe('succeeded');
    // Two polls of a second before people were asked, two after; not the ten minutes.
    expect(run.timings.queueMs).toBe(4_000);
  });

  it.each<[string, (rig: LoopRig, runId: string) => Promise<unknown>]>([
    ['ends with QUEUE_TIMEOUT after 30 s', async () => undefined],
    ['is cut short by a cancellation', cancelLate],
  ])('is counted when it %s', async (_how, meanwhile) => {
    const rig = new LoopRig({ tools, turns: [{ calls: [['look', {}]] }, 'done'] });
    rig.deps.config.hands.concurrency.tools['look'] = 0;
    const { runId } = await rig.start();
    const began = rig.clock.now();
    await meanwhile(rig, runId);
    const run = await rig.settle(runId);
    expect(run.timings.queueMs).toBe(rig.clock.now() - began);
    expect(run.timings.queueMs).toBeGreaterThanOrEqual(30_000);
  });

  it('that was in vain is told to the model, which may ask again', async () => {
    const rig = new LoopRig({ tools, turns: [{ calls: [['look', {}]] }, 'done'] });
    rig.deps.config.hands.concurrency.tools['look'] = 0;
    const run = await rig.run();
    expect(run).toMatchObject({ status: 'succeeded', answer: 'done' });
    expect(rig.handled.size).toBe(0);
    const [observation] = (await rig.transcript(run)).filter(({ message }) => message.role === 'observation');
    const error = { code: 'QUEUE_TIMEOUT', recoverable: true, message: 'look waited over 30 s for a free place and did not run' };
    expect(observation?.message).toMatchObject({ result: { success: false, error } });
    expect(rig.stores.state.permits?.waiting).toEqual([]);
  });
});

describe('a permit whose release lost to the others again and again', () => {
  it('is given back by the next step, so that nobody waits for the end of its lease', async () => {
    const rig = new LoopRig({
      tools: [{ definition: { name: 'look', maxConcurrency: 1 } }],
      turns: [{ calls: [['look', { n: 1 }]] }, { calls: [['look', { n: 2 }]] }, 'done'],
    });
    const { putPermits } = rig.stores.guard;
    let puts = 0;
    // The first takes the permit; all tries of the step that gives it back are overtaken.
    rig.stores.guard.putPermits = async (next) => (++puts > 1 && puts <= 19 ? false : putPermits(next));
    const { runId } = await rig.start();
    const run = await rig.settle(runId);
    expect([run.status, puts > 19]).toEqual(['succeeded', true]);
    expect([...rig.handled.keys()]).toHaveLength(2);
    expect((await rig.stores.guard.getPermits()).leases).toEqual([]);
  });
});
