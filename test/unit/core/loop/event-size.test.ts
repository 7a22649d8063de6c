import { describe, expect, it } from 'vitest';
import { jsonBytes } from '../../../../lib/core/json.ts';
import { BATCH_CALLS } from '../../../../lib/core/limits.ts';
import type { RunEvent } from '../../../../lib/core/loop/event.ts';
import { fitEvents, placeEvents } from '../../../../lib/core/loop/event-size.ts';
import { LoopRig } from '../../../support/loop-rig.ts';

const ROOM = 56_000;
const decision = (n: number, reason: string, looked: string): RunEvent => ({
  type: 'guard.decision',
  at: 0,
  data: {
    callId: `c1-${n}`,
    decision: 'ALLOW',
    checker: 'confirm',
    reason: 'nobody need be asked',
    answers: ['tool_policy', 'budget', 'confirm'].map((checker) => ({ checker, decision: 'ALLOW', reason })),
    looked_at: { [looked]: n },
  },
});
const decisions = (reason: (n: number) => string, looked = 'call_count'): RunEvent[] =>
  Array.from({ length: BATCH_CALLS }, (_, n) => decision(n, reason(n), looked));

describe('the guard decisions on a message of many calls', () => {
  it.each([24, 25, 60, BATCH_CALLS])('of %i say of each what every checker said and looked at, now and later', async (count) => {
    const calls = Array.from({ length: count }, (_, at) => ['look', { at }] as const);
    const rig = new LoopRig({ turns: [{ calls }, 'done'] });
    const { runId } = await rig.start();
    for (const name of rig.executions.keys()) await rig.advance(name);
    const read = async () => (await rig.stores.runs.readEvents({ tenant: 't1', runId }, 0)).filter(({ type }) => type === 'guard.decision');
    const riding = await read();
    expect(riding).toHaveLength(count);
    for (const [n, { data }] of riding.entries()) {
      expect(data).toMatchObject({ callId: `c1-${n}`, looked_at: { call_count: n + 1 } });
      expect(data['answers']).toMatchObject(['tool_policy', 'rate_limit', 'budget', 'flow', 'confirm'].map((checker) => ({ checker })));
    }
    await rig.settle(runId);
    expect((await read()).slice(0, count)).toEqual(riding);
  });

  it('keep what was said of many once, and lose nothing of it', () => {
    const events = decisions(() => 'x'.repeat(400));
    expect(jsonBytes(events)).toBeGreaterThan(2 * ROOM);
    const fitting = fitEvents(events);
    expect(jsonBytes(fitting)).toBeLessThan(ROOM / 2);
    expect(placeEvents({ step: 1, events: fitting }).map(({ data }) => data)).toEqual(events.map(({ data }) => data));
  });

  it('shorten what was said of each apart', () => {
    const fitting = fitEvents(decisions((n) => `${n} ${'x'.repeat(400)}`));
    expect(jsonBytes(fitting)).toBeLessThanOrEqual(ROOM);
    for (const { data } of placeEvents({ step: 1, events: fitting }))
      expect(data).toMatchObject({
        answers: [{ reason: expect.stringMatching(/^\d+ x+…$/) }, {}, {}],
        looked_at: { call_count: expect.anything() },
      });
  });

  it('go without it, and say so, where checkers say more than there is room for', () => {
    const fitting = fitEvents(decisions((n) => `${n}`, 'key'.repeat(200)));
    expect(jsonBytes(fitting)).toBeLessThanOrEqual(ROOM);
    for (const [n, { data }] of fitting.entries())
      expect(data).toEqual({ callId: `c1-${n}`, decision: 'ALLOW', checker: 'confirm', reason: expect.any(String), shortened: true });
  });
});
