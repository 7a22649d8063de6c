import { describe, expect, it } from 'vitest';
import { updatePermits } from '../../../../lib/core/hands/permits.ts';
import { noPermits } from '../../../../lib/core/hands/permits-item.ts';
import type { Run } from '../../../../lib/core/loop/run.ts';
import { LoopRig, type RigOptions } from '../../../support/loop-rig.ts';
import { faultsIn, resultsIn } from '../../../support/replay.ts';

const HOUR_MS = 60 * 60_000;
const gated: RigOptions['config'] = { constraints: { guard: { tool_policy: { look: 'confirm' } } } };

/** The process is gone with all its executions; another one finds the runs in the table. */
async function crash(rig: LoopRig, run: Pick<Run, 'runId'>): Promise<Run> {
  rig.executions.clear();
  rig.clock.advance(2 * HOUR_MS);
  await rig.sweep();
  return rig.settle(run.runId);
}

/** Drives the first execution until its committed plan is `next`. */
async function planned(rig: LoopRig, next: string): Promise<Run> {
  const { runId } = await rig.start();
  for (let step = 0; step < 50; step++) {
    const run = await rig.get(runId);
    if (run.plan?.next === next) return run;
    for (const execution of rig.executions.keys()) await rig.advance(execution);
  }
  throw new Error(`it never planned ${next}`);
}

describe('a run whose engine was stopped', () => {
  it('before its first step begins', async () => {
    const rig = new LoopRig({ turns: ['done'] });
    const run = await crash(rig, await rig.start());
    expect(run).toMatchObject({ status: 'succeeded', answer: 'done' });
    expect(rig.prompts).toHaveLength(1);
  });

  it('with the plan "reason" goes on with the next LLM call and repeats none', async () => {
    const rig = new LoopRig({ turns: [{ calls: [['nope', {}]] }, 'done'] });
    const run = await crash(rig, await planned(rig, 'reason'));
    expect(run).toMatchObject({ status: 'succeeded', frames: [{ iterations: 2 }] });
    expect(rig.prompts).toHaveLength(2);
    expect(faultsIn(rig.prompts)).toEqual([]);
  });

  it('with idempotent calls in flight dispatches them again, for which their permits were given back', async () => {
    const rig = new LoopRig({
      tools: [{ definition: { name: 'look', idempotent: true } }],
      turns: [{ calls: [['look', {}]] }, 'done'],
      config: { hands: { concurrency: { tools: { look: 1 } } } },
    });
    const before = await planned(rig, 'act');
    expect(rig.stores.state.permits?.leases).toHaveLength(1);
    const { until } = rig.stores.state.permits?.leases[0] ?? { until: 0 };
    rig.executions.clear();
    await rig.deps.engine.start(`${before.runId}-1`, { ctx: { tenant: 't1', runId: before.runId, step: before.step }, recover: true });
    expect(rig.clock.now()).toBeLessThan(until);
    expect(await rig.settle(before.runId)).toMatchObject({ status: 'succeeded' });
    expect([...rig.handled]).toEqual([['c1-0', 1]]);
    expect(rig.states).not.toContain('Wait');
    expect(rig.stores.state.permits?.leases).toEqual([]);
  });

  it('gives back what a dead attempt of it took and never committed', async () => {
    const rig = new LoopRig({ turns: [{ calls: [['look', {}]] }, 'done'] });
    const before = await planned(rig, 'act');
    const stray = updatePermits(rig.stores.state.permits ?? noPermits, {
      now: rig.clock.now(),
      run: before.runId,
      attempt: 'dead',
      giveBack: [],
      want: [{ key: `${before.runId}#c2-0`, levels: ['global'], leaseUntil: rig.clock.now() + 24 * HOUR_MS }],
      nextPoll: 0,
      limits: new Map(),
    });
    rig.stores.state.permits = stray.next;
    await crash(rig, before);
    expect(rig.stores.state.permits?.leases).toEqual([]);
  });

  it('with a call in flight that must not run twice says that its outcome is unknown, and goes on with later stages', async () => {
    const rig = new LoopRig({
      turns: [
        {
          calls: [
            ['look', { at: 1 }],
            ['look', { at: 2 }],
          ],
        },
        'done',
      ],
    });
    const run = await crash(rig, await planned(rig, 'act'));
    expect(run).toMatchObject({ status: 'succeeded' });
    expect([...rig.handled]).toEqual([['c1-1', 1]]);
    expect(resultsIn(rig.prompts[1]).map(({ text }) => text.startsWith('OUTCOME_UNKNOWN'))).toEqual([true, false]);
    expect(faultsIn(rig.prompts)).toEqual([]);
  });

  it('while people are asked asks them nothing again and takes what they then say', async () => {
    const rig = new LoopRig({ turns: [{ calls: [['look', {}]] }, 'done'], config: gated });
    const before = await planned(rig, 'suspend');
    const waiting = await crash(rig, before);
    expect(waiting).toMatchObject({ status: 'waiting', plan: before.plan });
    const [approvalId = ''] = await rig.pending(before.runId);
    await rig.decide([{ approvalId, decision: 'approve' }]);
    const run = await rig.settle(before.runId);
    expect(run).toMatchObject({ status: 'succeeded' });
    expect([...rig.handled]).toEqual([['c1-0', 1]]);
    const events = await rig.stores.runs.readEvents(run, 0);
    expect(events.filter(({ type }) => type === 'approval.requested')).toHaveLength(1);
    expect(rig.stores.state.suspensions.size).toBe(1);
  });

  it('before the suspension it planned was written writes it', async () => {
    const rig = new LoopRig({ turns: [{ calls: [['look', {}]] }, 'done'], config: gated });
    const before = await planned(rig, 'suspend');
    rig.stores.state.suspensions.clear();
    await crash(rig, before);
    const [approvalId = ''] = await rig.pending(before.runId);
    await rig.decide([{ approvalId, decision: 'approve' }]);
    expect(await rig.settle(before.runId)).toMatchObject({ status: 'succeeded' });
  });

  it('while it waits for a permit goes on waiting, then runs', async () => {
    const rig = new LoopRig({ turns: [{ calls: [['look', {}]] }, 'done'], config: { hands: { concurrency: { global: 1 } } } });
    rig.stores.state.permits = {
      ver: 1,
      leases: [{ key: 'r-other#c1-0#a', run: 'r-other', levels: ['global'], until: rig.clock.now() + HOUR_MS }],
      waiting: [],
    };
    const run = await crash(rig, await planned(rig, 'wait'));
    expect(run).toMatchObject({ status: 'succeeded', answer: 'done' });
    expect([...rig.handled.values()].every((times) => times === 1)).toBe(true);
    expect(faultsIn(rig.prompts)).toEqual([]);
  });

  it('between two executions starts the second one', async () => {
    let turn = 0;
    const rig = new LoopRig({
      turns: () => (turn++ < 8 ? { calls: [['look', { turn }]] } : 'done'),
      config: { limits: { history_events: 600 } },
    });
    const before = await planned(rig, 'continue');
    const run = await crash(rig, before);
    expect(run).toMatchObject({ status: 'succeeded', answer: 'done' });
    expect(before.plan).toEqual({ next: 'continue', name: `${before.runId}-2` });
    expect(rig.executions.has(`${before.runId}-2`)).toBe(true);
    expect(faultsIn(rig.prompts)).toEqual([]);
    expect([...rig.handled.values()]).toEqual(Array.from({ length: 8 }, () => 1));
  });

  it('spends none of its time meanwhile', async () => {
    const rig = new LoopRig({ turns: [{ calls: [['look', {}]] }, 'done'] });
    const run = await crash(rig, await planned(rig, 'act'));
    expect(run).toMatchObject({ status: 'succeeded', activeMs: 0 });
  });

  it('after it was asked to cancel ends as cancelled, with every call answered', async () => {
    const rig = new LoopRig({
      turns: [
        {
          calls: [
            ['look', { at: 1 }],
            ['look', { at: 2 }],
          ],
        },
      ],
    });
    const before = await planned(rig, 'act');
    await rig.cancel(before.runId);
    const run = await crash(rig, before);
    expect(run).toMatchObject({ status: 'cancelled' });
    const codes = (await rig.transcript(run)).flatMap(({ message }) =>
      message.role === 'observation' ? [message.result.error?.code] : [],
    );
    expect(codes).toEqual(['OUTCOME_UNKNOWN', 'CANCELLED']);
  });
});

describe('a run that goes on in a new execution', () => {
  it('in the middle of a batch loses and repeats nothing of it', async () => {
    const rig = new LoopRig({
      turns: [{ calls: Array.from({ length: 12 }, (_, index) => ['look', { index }] as const) }, 'done'],
      config: { limits: { history_events: 600 } },
    });
    const run = await rig.run();
    expect(run).toMatchObject({ status: 'succeeded', frames: [{ iterations: 2 }] });
    expect(rig.states.filter((state) => state === 'Continue').length).toBeGreaterThan(1);
    expect(rig.prompts).toHaveLength(2);
    expect([...rig.handled.values()]).toEqual(Array.from({ length: 12 }, () => 1));
    expect(resultsIn(rig.prompts[1])).toHaveLength(12);
  });

  it('takes at least one step in each, whatever the limit and the concurrency', async () => {
    const rig = new LoopRig({
      turns: (_request, turn) => (turn < 5 ? { calls: [['look', { turn }]] } : 'done'),
      config: { limits: { history_events: 600 }, hands: { concurrency: { global: 500 } } },
    });
    const run = await rig.run();
    expect(run).toMatchObject({ status: 'succeeded', answer: 'done' });
    expect(run.execution).toBeLessThanOrEqual(8);
  });

  it('right after people decided runs what they approved', async () => {
    const rig = new LoopRig({
      turns: (_request, turn) => (turn < 4 ? { calls: [['look', { turn }]] } : 'done'),
      config: { ...gated, limits: { history_events: 600 } },
    });
    const { runId } = await rig.run();
    for (let turn = 0; turn < 4; turn++) {
      const [approvalId = ''] = await rig.pending(runId);
      await rig.decide([{ approvalId, decision: 'approve' }]);
      await rig.settle(runId);
    }
    const run = await rig.get(runId);
    expect(run).toMatchObject({ status: 'succeeded', answer: 'done' });
    expect(run.execution).toBeGreaterThan(1);
    expect([...rig.handled.values()]).toEqual([1, 1, 1, 1]);
  });
});
