import { describe, expect, it } from 'vitest';
import { HandrailError } from '../../../../lib/core/errors.ts';
import type { RunKey } from '../../../../lib/core/ids.ts';
import { SWEEP } from '../../../../lib/core/limits.ts';
import { type SweepOptions, sweep } from '../../../../lib/core/loop/sweep.ts';
import type { Logger } from '../../../../lib/core/ports/logger.ts';
import { T0 } from '../../../support/guard.ts';
import { LoopRig, type RigOptions } from '../../../support/loop-rig.ts';
import { simulateWaiting } from '../../../support/sweep-simulation.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const confirming: RigOptions = {
  turns: [{ calls: [['look', {}]] }, 'done'],
  config: { constraints: { guard: { tool_policy: { look: 'confirm' } } } },
};

/** `count` runs that wait for people, of which all but the last, with their suspensions, can no longer be read. */
async function rigWithUnreadable(count: number): Promise<{ rig: LoopRig; good: RunKey; bad: ReadonlySet<string>; logged: unknown[] }> {
  const rig = new LoopRig(confirming);
  const runs: RunKey[] = [];
  for (let n = 0; n < count; n++) runs.push(await rig.run('go', { sessionId: `s-${n}` }));
  const good = runs.pop() as RunKey;
  const bad = new Set(runs.map(({ runId }) => runId));
  const { runs: store, guard } = rig.deps;
  const logged: unknown[] = [];
  const error: Logger['error'] = (message, cause, fields) => void logged.push({ message, cause, fields });
  const readable = async (runId: string): Promise<void> => {
    if (bad.has(runId)) throw new HandrailError('INTERNAL', `unreadable item ${runId} (v 2)`);
  };
  Object.assign(rig.deps, {
    logger: { ...rig.deps.logger, error },
    runs: { ...store, getRun: (key: RunKey) => readable(key.runId).then(() => store.getRun(key)) },
    guard: { ...guard, getSuspension: (id: string) => readable(id.slice(0, 28)).then(() => guard.getSuspension(id)) },
  });
  return { rig, good, bad, logged };
}

const statusOf = (rig: LoopRig, { runId }: RunKey) => rig.stores.state.suspensions.get(`${runId}-1`)?.approvals['c1-0']?.status;

describe('items that sweep cannot settle', () => {
  it('keep no other waiting, however many there are', async () => {
    const { rig, good } = await rigWithUnreadable(151);
    rig.clock.advance(25 * HOUR_MS);
    const report = await rig.sweep();
    expect(statusOf(rig, good)).toBe('expired');
    expect(report).toMatchObject({ runs: 1, suspensions: 1, failed: 300, behindMs: 0 });
  });

  it('are put off, longer each time, named in the log, and after the fourth failure in a row counted as stuck', async () => {
    const { rig, bad, logged } = await rigWithUnreadable(2);
    rig.clock.advance(25 * HOUR_MS);
    const tried: { minute: number; failed: number; stuck: number }[] = [];
    for (let minute = 0; minute < 60; minute++) {
      const { failed, stuck } = await rig.sweep();
      if (failed > 0) tried.push({ minute, failed, stuck });
      rig.clock.advance(MINUTE_MS);
    }
    expect(tried).toEqual([
      { minute: 0, failed: 2, stuck: 0 },
      { minute: 1, failed: 2, stuck: 0 },
      { minute: 3, failed: 2, stuck: 0 },
      { minute: 7, failed: 2, stuck: 2 },
      { minute: 15, failed: 2, stuck: 2 },
      { minute: 30, failed: 2, stuck: 2 },
      { minute: 45, failed: 2, stuck: 2 },
    ]);
    const [runId] = bad;
    expect(logged).toContainEqual(expect.objectContaining({ fields: { kind: 'run', tenant: 't1', runId } }));
    expect(logged).toContainEqual(expect.objectContaining({ fields: { kind: 'suspension', suspensionId: `${runId}-1` } }));
  });

  it('are settled as before once they can be', async () => {
    const { rig, bad } = await rigWithUnreadable(2);
    const [runId = ''] = bad;
    rig.clock.advance(25 * HOUR_MS);
    await rig.sweep();
    (bad as Set<string>).clear();
    expect(await rig.sweep()).toMatchObject({ runs: 0, suspensions: 0, failed: 0 });
    rig.clock.advance(MINUTE_MS);
    expect(await rig.sweep()).toMatchObject({ runs: 1, suspensions: 1, failed: 0 });
    expect(statusOf(rig, { tenant: 't1', runId })).toBe('expired');
  });

  it('decisions that cannot be delivered are among them', async () => {
    const rig = new LoopRig(confirming);
    const { runId } = await rig.run();
    const { faults } = rig;
    rig.faults = {
      ...faults,
      before(operation) {
        if (operation === 'engine.send') throw new Error('the engine is down');
      },
    };
    const [approvalId = ''] = await rig.pending(runId);
    await rig.decide([{ approvalId, decision: 'approve' }]);
    expect(await rig.sweep()).toMatchObject({ suspensions: 0, failed: 1 });
    rig.faults = faults;
    rig.clock.advance(MINUTE_MS);
    expect(await rig.sweep()).toMatchObject({ suspensions: 1, failed: 0 });
    expect(await rig.settle(runId)).toMatchObject({ status: 'succeeded' });
  });

  it('that cannot even be put off do not stop the pass', async () => {
    const { rig, good } = await rigWithUnreadable(20);
    rig.clock.advance(25 * HOUR_MS);
    rig.faults = {
      ...rig.faults,
      before(operation) {
        if (operation === 'deferDue') throw new Error('no');
      },
    };
    expect(await rig.sweep()).toMatchObject({ runs: 1, suspensions: 1, failed: 38, stuck: 0 });
    expect(statusOf(rig, good)).toBe('expired');
  });
});

describe('a pass of sweep', () => {
  it('asks whether a run that waits for people lives once an hour, and every five minutes when it is to be cancelled', async () => {
    const rig = new LoopRig(confirming);
    const { runId } = await rig.run();
    const dueIn = () => (rig.stores.state.runs.get(`t1#${runId}`)?.dueAt ?? 0) - rig.clock.now();
    rig.clock.advance(HOUR_MS);
    await rig.sweep();
    expect(dueIn()).toBe(HOUR_MS);
    rig.clock.advance(HOUR_MS);
    await rig.stores.runs.requestCancel({ tenant: 't1', runId }, rig.clock.now(), 'ann');
    await rig.sweep();
    expect(dueIn()).toBe(5 * MINUTE_MS);
  });

  it('that fails to list one kind sees to the other, and fails', async () => {
    const rig = new LoopRig(confirming);
    const run = await rig.run();
    rig.clock.advance(25 * HOUR_MS);
    const { runs } = rig.deps;
    const due: typeof runs.due = async (kind, now, page) =>
      kind === 'run' ? Promise.reject(new Error('throttled')) : runs.due(kind, now, page);
    Object.assign(rig.deps, { runs: { ...runs, due } });
    await expect(rig.sweep()).rejects.toThrow('throttled');
    expect(statusOf(rig, run)).toBe('expired');
  });

  it('begins nothing when its time is up, says how far it is behind, and the next one goes on there', async () => {
    const rig = new LoopRig(confirming);
    for (let n = 0; n < 30; n++) await rig.run('go', { sessionId: `s-${n}` });
    rig.clock.advance(2 * HOUR_MS);
    const options: SweepOptions = { until: rig.clock.now() + 10_000, apart: (work) => work().then(() => rig.clock.advance(1_000)) };
    const first = await sweep(rig.deps, options);
    expect(first.runs).toBeGreaterThanOrEqual(10);
    expect(first.runs).toBeLessThan(30);
    expect(first.behindMs).toBeGreaterThanOrEqual(HOUR_MS);
    const second = await sweep(rig.deps);
    expect([first.runs + second.runs, second.behindMs]).toEqual([30, 0]);
  });

  it('works on each item apart', async () => {
    const rig = new LoopRig(confirming);
    for (let n = 0; n < 3; n++) await rig.run('go', { sessionId: `s-${n}` });
    rig.clock.advance(2 * HOUR_MS);
    const works: unknown[] = [];
    await sweep(rig.deps, { apart: (work) => (works.push(work) > 0 ? work() : Promise.resolve()) });
    expect(new Set(works).size).toBe(3);
  });
});

describe('ten thousand runs that wait for people', { timeout: 120_000 }, () => {
  const COUNT = 10_000;
  const inADay = { expiresAt: T0 + DAY_MS };

  it('are looked at once an hour each, and no pass leaves any behind', async () => {
    const world = simulateWaiting(COUNT, (n) => ({ dueAt: T0 + Math.floor((n / COUNT) * HOUR_MS), ...inADay }));
    const minutes = await world.play(90);
    expect(Math.max(...minutes.map(({ lateMs }) => lateMs))).toBeLessThan(MINUTE_MS);
    expect(minutes.every(({ report }) => report.behindMs === 0 && report.failed === 0)).toBe(true);
    const looked = minutes.slice(30, 90).reduce((sum, { report }) => sum + report.runs, 0);
    expect(looked).toBeGreaterThan(COUNT * 0.98);
    expect(looked).toBeLessThan(COUNT * 1.02);
  });

  it('that are all due in the same minute have been seen to within 37 minutes, at no more than eight a second', async () => {
    const world = simulateWaiting(COUNT, () => ({ dueAt: T0, ...inADay }));
    const minutes = await world.play(60);
    expect(minutes.findIndex(({ due }) => due === 0)).toBe(36);
    expect(Math.max(...minutes.map(({ report }) => report.runs))).toBeLessThanOrEqual((SWEEP.itemsMs / 1000) * SWEEP.runsPerSecond);
    expect(minutes[0]?.report.behindMs).toBeGreaterThan(0);
  });

  it('whose approvals all expire in the same minute go on within three minutes', async () => {
    const world = simulateWaiting(COUNT, () => ({ dueAt: T0 + HOUR_MS, expiresAt: T0 }));
    const minutes = await world.play(4);
    expect(minutes.map(({ pending }) => pending > 0)).toEqual([true, true, false, false]);
    expect(world.stores.engine.answered).toHaveLength(COUNT);
    expect(world.stores.engine.waiting.size).toBe(0);
  });
});
