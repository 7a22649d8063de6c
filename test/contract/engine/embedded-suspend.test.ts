import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Json, JsonObject } from '../../../lib/core/json.ts';
import { SUSPEND_TIMEOUT_SECONDS } from '../../../lib/core/limits.ts';
import { CTX, calls, engineRig, type Rig, RUN_ID, until } from '../../support/engine-rig.ts';
import { transitionsPerPass } from '../../support/transitions.ts';

const plans: JsonObject[] = [{ next: 'suspend' }, { next: 'act', calls: calls(1) }, { next: 'finish' }];
const answer = { suspensionId: `${RUN_ID}-1` };

/** What each suspend λ was invoked with. */
let notified: { ctx: Json; token: string; execution: string }[];
let rig: Rig;

function suspending(options: { fail?: number; answerInside?: boolean } = {}): Rig {
  notified = [];
  rig = engineRig(plans, {
    realPauses: false,
    suspend: async (event) => {
      notified.push(event as never);
      if (notified.length <= (options.fail ?? 0)) throw new Error('no notice could be sent');
      if (options.answerInside) expect(await rig.engine.sendTaskSuccess(notified.at(-1)?.token ?? '', answer)).toBe('delivered');
    },
  });
  return rig;
}
const token = (index = 0): string => notified[index]?.token ?? 'none';

afterEach(async () => {
  vi.useRealTimers();
  await rig.engine.stop(0);
});

describe('Suspend', () => {
  it('gives the suspend λ context, token and execution, waits, and hands the answer to Reason as woke: 7 transitions with one call', async () => {
    suspending();
    const ended = rig.run();
    await until(() => notified.length === 1);
    expect(notified).toEqual([{ ctx: { ...CTX, step: 1 }, token: expect.any(String), execution: `${RUN_ID}-1` }]);
    expect(await rig.engine.status(`${RUN_ID}-1`)).toBe('running');
    expect(await rig.engine.sendTaskSuccess(token(), answer)).toBe('delivered');
    expect(await ended).toMatchObject({ status: 'SUCCEEDED' });
    expect(rig.seen[1]?.data).toEqual({ ctx: { ...CTX, step: 1 }, next: 'suspend', woke: answer });
    expect(transitionsPerPass(rig.transitions)).toEqual([3, 4]);
  });

  it('takes an answer that comes while the suspend λ still runs', async () => {
    suspending({ answerInside: true });
    expect(await rig.run()).toMatchObject({ status: 'SUCCEEDED' });
    expect(rig.seen[1]?.data.woke).toEqual(answer);
  });

  it('takes one answer per token', async () => {
    suspending();
    const ended = rig.run();
    await until(() => notified.length === 1);
    const both = await Promise.all([rig.engine.sendTaskSuccess(token(), answer), rig.engine.sendTaskSuccess(token(), { other: true })]);
    expect(both).toEqual(['delivered', 'gone']);
    await ended;
    expect(await rig.engine.sendTaskSuccess(token(), answer)).toBe('gone');
    expect(rig.seen[1]?.data.woke).toEqual(answer);
  });

  it('makes a new token when the suspend λ is tried again; the old one is gone', async () => {
    suspending({ fail: 2 });
    const ended = rig.run();
    await until(() => notified.length === 3);
    expect(new Set(notified.map((event) => event.token)).size).toBe(3);
    expect(await rig.engine.sendTaskSuccess(token(0), answer)).toBe('gone');
    expect(await rig.engine.sendTaskSuccess(token(2), answer)).toBe('delivered');
    await ended;
    expect(transitionsPerPass(rig.transitions)).toEqual([5, 4]);
  });

  it('fails the execution when the suspend λ fails four times', async () => {
    suspending({ fail: 4 });
    expect(await rig.run()).toMatchObject({ status: 'FAILED', error: 'Error' });
    expect(notified).toHaveLength(4);
  });

  it('wakes Reason by itself when nobody ever answers (R33), without trying again', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    suspending();
    const ended = rig.run();
    await until(() => notified.length === 1);
    await vi.advanceTimersByTimeAsync(SUSPEND_TIMEOUT_SECONDS * 1000 - 1);
    expect(rig.seen).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(await ended).toMatchObject({ status: 'SUCCEEDED' });
    expect(notified).toHaveLength(1);
    expect(rig.seen[1]?.data.woke).toMatchObject({ Error: 'States.Timeout' });
    expect(await rig.engine.sendTaskSuccess(token(), answer)).toBe('gone');
  });

  it('does not lose its token when the run is cancelled: the wake-up still comes through it', async () => {
    suspending();
    const ended = rig.run();
    await until(() => notified.length === 1);
    rig.engine.abortRun(RUN_ID);
    expect(await rig.engine.sendTaskSuccess(token(), answer)).toBe('delivered');
    await ended;
  });

  it('knows no token it did not issue, nor one of a stopped execution', async () => {
    suspending();
    void rig.run();
    await until(() => notified.length === 1);
    expect(await rig.engine.sendTaskSuccess('forged', answer)).toBe('gone');
    await rig.engine.stop();
    await rig.closed(`${RUN_ID}-1`);
    expect(await rig.engine.sendTaskSuccess(token(), answer)).toBe('gone');
  });
});

describe('timeouts of Tasks', () => {
  it('aborts a tool that outlives its Task and reports States.Timeout, once', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const signals: AbortSignal[] = [];
    rig = engineRig([{ next: 'act', calls: calls(1) }, { next: 'finish' }], {
      tool: (_name, _call, signal) => {
        signals.push(signal);
        return new Promise(() => undefined);
      },
    });
    const ended = rig.run();
    await until(() => signals.length === 1);
    await vi.advanceTimersByTimeAsync(30_000);
    await ended;
    expect(signals).toHaveLength(1);
    expect(signals[0]?.reason).toMatchObject({ code: 'TIMEOUT' });
    expect(rig.seen[1]?.data.calls).toEqual([{ callId: 'c1-0', error: { Error: 'States.Timeout' } }]);
  });

  it('waits 1, 2 and at most 10 seconds, times a random part, before it tries again', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    vi.spyOn(Math, 'random').mockReturnValue(0.999_999_9);
    let times = 0;
    rig = engineRig([{ next: 'act', calls: calls(1) }, { next: 'finish' }], {
      realPauses: true,
      tool: async () => {
        times++;
        throw Object.assign(new Error('busy'), { name: 'RETRY_5' });
      },
    });
    const ended = rig.run();
    for (const [index, ms] of [1_000, 2_000, 4_000, 8_000, 10_000].entries()) {
      await until(() => times === index + 1 && vi.getTimerCount() === 1);
      await vi.advanceTimersByTimeAsync(ms - 1);
      expect(times).toBe(index + 1);
      await vi.advanceTimersByTimeAsync(1);
      await until(() => times === index + 2);
    }
    await ended;
    vi.mocked(Math.random).mockRestore();
    expect(times).toBe(6);
  });
});
