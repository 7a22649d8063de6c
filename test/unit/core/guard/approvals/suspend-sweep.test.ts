import { beforeEach, describe, expect, it } from 'vitest';
import { deliver } from '../../../../../lib/core/guard/approvals/deliver.ts';
import { REDELIVER_MS } from '../../../../../lib/core/guard/approvals/deps.ts';
import { sweepSuspension } from '../../../../../lib/core/guard/approvals/expire.ts';
import { suspend } from '../../../../../lib/core/guard/approvals/suspend.ts';
import type { Suspension } from '../../../../../lib/core/guard/approvals/suspension.ts';
import { executionName } from '../../../../../lib/core/ids.ts';
import type { Run } from '../../../../../lib/core/loop/run.ts';
import { silentLogger } from '../../../../../lib/core/ports/logger.ts';
import { openSuspension, RUN_ID, SUSPENSION_ID, T0, TTL_MS, waitingRun } from '../../../../support/guard.ts';
import { type MemoryStores, memoryStores } from '../../../../support/memory-stores.ts';
import { TestClock } from '../../../../support/time.ts';

const EXECUTION = executionName(RUN_ID, 1);
let stores: MemoryStores;
let clock: TestClock;
let failing: string | undefined;

const deps = () => ({ ...stores, clock, logger: silentLogger });
const item = (): Suspension => stores.state.suspensions.get(SUSPENSION_ID) as Suspension;
const status = (): string | undefined => item().approvals['c3-0']?.status;
const answered = (): string[] => stores.engine.answered.map(({ token }) => token);
const setRun = (changes: Partial<Run>): void => void stores.state.runs.set(`t1#${RUN_ID}`, waitingRun(changes));

async function enter(token: string, changes: { step?: number; execution?: string } = {}) {
  stores.engine.waiting.add(token);
  return suspend(deps(), {
    ctx: { tenant: 't1', runId: RUN_ID, step: changes.step ?? 3 },
    token,
    execution: changes.execution ?? EXECUTION,
  });
}
const approve = () =>
  stores.guard.changeSuspension(SUSPENSION_ID, {
    kind: 'decide',
    now: clock.now(),
    decisions: [{ callId: 'c3-0', status: 'approved', decision: { by: 'alice', at: clock.now(), how: 'api' } }],
  });

beforeEach(async () => {
  failing = undefined;
  stores = memoryStores(async (operation) => {
    if (operation === failing) throw new Error(`${operation} failed`);
  });
  clock = new TestClock(T0);
  setRun({});
  stores.engine.executions.set(EXECUTION, 'running');
  await stores.guard.openSuspension(openSuspension());
});

describe('suspending', () => {
  it('hands in its token and waits', async () => {
    expect(await enter('one')).toEqual({ state: 'waiting', suspensionId: SUSPENSION_ID });
    expect(item().tokens).toEqual([{ token: 'one', execution: EXECUTION, at: T0 }]);
    expect(answered()).toEqual([]);
  });

  it('wakes the run itself when everything was decided before it came', async () => {
    await approve();
    expect(await enter('one')).toMatchObject({ state: 'woken' });
    expect(answered()).toEqual(['one']);
    expect(item().deliveredAt).toBe(T0);
  });

  it('answers a new token even if an earlier one was answered: the machine was started again', async () => {
    await approve();
    await enter('one');
    await enter('two');
    expect(answered()).toEqual(['one', 'two']);
  });

  it('expires what is due', async () => {
    clock.advance(TTL_MS);
    await enter('one');
    expect([status(), answered()]).toEqual(['expired', ['one']]);
  });

  it('cancels when the run is to be cancelled', async () => {
    setRun({ cancelRequestedAt: T0 });
    await enter('one');
    expect([status(), answered()]).toEqual(['cancelled', ['one']]);
  });

  it.each<[string, Partial<Run>, { step?: number; execution?: string }]>([
    ['another step', {}, { step: 2 }],
    ['an execution that is over', { execution: 2 }, {}],
    ['a run that does not wait', { plan: { next: 'act', calls: ['c3-0'] } }, {}],
  ])('sends %s on without touching the suspension', async (_what, changes, event) => {
    setRun(changes);
    expect(await enter('one', event)).toEqual({ state: 'stale' });
    expect([answered(), item().tokens]).toEqual([['one'], []]);
  });

  it('sends a run that is not there on', async () => {
    stores.state.runs.clear();
    expect(await enter('one')).toEqual({ state: 'stale' });
  });

  it('leaves to sweep what the engine would not take', async () => {
    await approve();
    failing = 'sendTaskSuccess';
    expect(await enter('one')).toMatchObject({ state: 'waiting' });
    failing = undefined;
    for (const due of (await stores.runs.due('suspension', clock.now(), { limit: 10 })).items)
      if (due.kind === 'suspension') await sweepSuspension(deps(), due.suspensionId);
    expect(answered()).toEqual(['one']);
  });

  it('fails, to be tried again, where sweep would not come: another token was answered before', async () => {
    await approve();
    await enter('one');
    failing = 'sendTaskSuccess';
    await expect(enter('two')).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  });

  it('fails when the suspension is missing', async () => {
    stores.state.suspensions.clear();
    await expect(enter('one')).rejects.toMatchObject({ code: 'INTERNAL' });
  });
});

describe('delivering', () => {
  const withToken = (token: string): Suspension => ({ ...item(), tokens: [{ token, execution: EXECUTION, at: T0 }] });

  it('does nothing while somebody has to decide', async () => {
    expect(await deliver(deps(), withToken('one'))).toBe('pending');
  });

  it('takes a token that is gone for delivered only if the run has moved on or its execution is closed', async () => {
    await approve();
    expect(await deliver(deps(), withToken('gone'))).toBe('unconfirmed');
    expect(item().deliveredAt).toBeUndefined();
    setRun({ step: 4, plan: { next: 'reason' } });
    expect(await deliver(deps(), withToken('gone'))).toBe('delivered');
  });

  it('takes it for delivered when the execution is closed, not when it is unknown', async () => {
    await approve();
    stores.engine.executions.delete(EXECUTION);
    expect(await deliver(deps(), withToken('gone'))).toBe('unconfirmed');
    stores.engine.executions.set(EXECUTION, 'closed');
    expect(await deliver(deps(), withToken('gone'))).toBe('delivered');
  });

  it('sends every token, and the others when one fails', async () => {
    await approve();
    stores.engine.waiting.add('one').add('two');
    const send = stores.engine.sendTaskSuccess.bind(stores.engine);
    const engine = {
      status: async () => 'running' as const,
      sendTaskSuccess: async (token: string) => (token === 'one' ? Promise.reject(new Error('throttled')) : send(token, {})),
    };
    const two = { ...withToken('one'), tokens: [...withToken('one').tokens, ...withToken('two').tokens] };
    expect(await deliver({ ...deps(), engine }, two)).toBe('failed');
    expect(answered()).toEqual(['two']);
    expect(item().deliveredAt).toBeUndefined();
  });
});

describe('sweeping', () => {
  it('looks again when the first approval expires', async () => {
    await enter('one');
    await stores.guard.changeSuspension(SUSPENSION_ID, { kind: 'due', dueAt: T0 });
    await sweepSuspension(deps(), SUSPENSION_ID);
    expect([status(), item().dueAt]).toEqual(['pending', T0 + TTL_MS]);
  });

  it('expires, tells of it, and wakes the run', async () => {
    await enter('one');
    clock.advance(TTL_MS);
    await sweepSuspension(deps(), SUSPENSION_ID);
    expect([status(), answered(), item().dueAt]).toEqual(['expired', ['one'], undefined]);
    const [event] = await stores.runs.readEvents({ tenant: 't1', runId: RUN_ID }, 0);
    expect(event).toMatchObject({ type: 'approval.resolved', at: T0 + TTL_MS, data: { status: 'expired', how: 'sweep' } });
  });

  it('delivers what its writer could not, and fails, to be tried again, while it cannot either', async () => {
    await enter('one');
    await approve();
    failing = 'sendTaskSuccess';
    await expect(sweepSuspension(deps(), SUSPENSION_ID)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(item().dueAt).toBe(T0);
    failing = undefined;
    await sweepSuspension(deps(), SUSPENSION_ID);
    expect([answered(), item().dueAt]).toEqual([['one'], undefined]);
  });

  it('waits for the token of a suspension that was decided before it', async () => {
    await approve();
    await sweepSuspension(deps(), SUSPENSION_ID);
    expect([item().dueAt, item().deliveredAt]).toEqual([T0 + REDELIVER_MS, undefined]);
  });

  it.each<[string, Partial<Run>]>([
    ['has ended', { status: 'failed', plan: { next: 'finish' } }],
    ['is to be cancelled', { cancelRequestedAt: T0 }],
  ])('cancels what is pending of a run that %s', async (_what, changes) => {
    await enter('one');
    setRun(changes);
    await sweepSuspension(deps(), SUSPENSION_ID);
    expect(status()).toBe('cancelled');
    expect(item().deliveredAt).toBe(T0);
  });

  it('passes over one that is not there', async () => {
    await expect(sweepSuspension(deps(), `${RUN_ID}-9`)).resolves.toBeUndefined();
  });
});
