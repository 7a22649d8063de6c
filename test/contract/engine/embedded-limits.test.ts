import { afterEach, describe, expect, it } from 'vitest';
import { type Json, type JsonObject, jsonBytes } from '../../../lib/core/json.ts';
import { STATE_DATA_BYTES } from '../../../lib/core/limits.ts';
import type { Plan } from '../../../lib/core/loop/plan.ts';
import { END_EVENTS, HISTORY_HARD_LIMIT, START_EVENTS, worstCaseEvents } from '../../../lib/core/machine/history.ts';
import { CTX, calls, engineRig, type Rig, RUN_ID, resultsAt, testLoop } from '../../support/engine-rig.ts';

const finish = { next: 'finish' };
const act = (count: number, extra: JsonObject = {}) => ({ next: 'act', calls: calls(count, extra) });
const tooLarge = { status: 'FAILED', error: 'States.DataLimitExceeded' };
/** Around a Lambda's payload AWS puts about a KiB of its own. */
const RESPONSE = 1024;

let rig: Rig;
afterEach(async () => rig.engine.stop(0));

describe('256 KiB of state data', () => {
  it('lets a result just under the limit pass, and ends the execution one byte over it', async () => {
    for (const [over, expected] of [
      [0, 'SUCCEEDED'],
      [1, 'FAILED'],
    ] as const) {
      let first = true;
      rig = engineRig([], {
        reason: async () => {
          const base = { ctx: CTX, next: first ? 'act' : 'finish', calls: calls(1), pad: '' };
          if (first) base.pad = 'x'.repeat(STATE_DATA_BYTES - RESPONSE - jsonBytes(base) + over);
          first = false;
          return base;
        },
        tool: async () => null,
      });
      expect((await rig.run()).status).toBe(expected);
    }
  });

  it('counts UTF-8 bytes, not characters', async () => {
    rig = engineRig([act(1), finish], { tool: async () => '\u{1F600}'.repeat(STATE_DATA_BYTES / 4) });
    expect(await rig.run()).toMatchObject(tooLarge);
  });

  it('neither retries nor catches: the next state never runs', async () => {
    let times = 0;
    rig = engineRig([act(1), finish], {
      tool: async () => {
        times++;
        return 'x'.repeat(STATE_DATA_BYTES);
      },
    });
    expect(await rig.run()).toMatchObject(tooLarge);
    expect(times).toBe(1);
    expect(rig.seen).toHaveLength(1);
    expect(rig.transitions.map(({ state }) => state)).not.toContain('Crashed');
  });

  it('measures what the calls of a stage come to together', async () => {
    rig = engineRig([act(10), finish], { tool: async () => 'x'.repeat(27_000) });
    expect(await rig.run()).toMatchObject(tooLarge);
    expect(rig.seen).toHaveLength(1);
  });

  it('measures a Task input, which repeats what the state data hold once', async () => {
    const half = 'x'.repeat(150_000);
    rig = engineRig([act(1, { arguments: { half } }), finish], {
      definition: widened(),
    });
    expect(await rig.run()).toMatchObject(tooLarge);
    expect(rig.transitions.map(({ state }) => state)).toEqual(['Reason', 'Route', 'Act', 'Invoke']);
  });

  it('carries ten retry errors with the largest Cause allowed by design, and ten crashes with any Cause', async () => {
    const escaped = Object.assign(new Error('y'.repeat(900)), { name: 'RETRY_1', stack: undefined });
    rig = engineRig([act(10), finish], { tool: async () => Promise.reject(escaped) });
    expect(await rig.run()).toMatchObject({ status: 'SUCCEEDED' });
    rig = engineRig([act(10), finish], { tool: async () => Promise.reject(new Error('y'.repeat(1_000_000))) });
    expect(await rig.run()).toMatchObject({ status: 'SUCCEEDED' });
    expect(jsonBytes(resultsAt(rig, 1))).toBeLessThan(1_000);
  });

  it('carries a stage at the limits of the design: 200 KiB of arguments, then 200 KiB of results', async () => {
    const text = 'x'.repeat(20 * 1024);
    rig = engineRig([act(10, { arguments: { text } }), finish], { tool: async () => ({ callId: 'c1-0', result: { data: text } }) });
    expect(await rig.run()).toMatchObject({ status: 'SUCCEEDED' });
  });

  it('refuses inputs and answers that AWS would refuse', async () => {
    const big: JsonObject = { text: 'x'.repeat(STATE_DATA_BYTES) };
    rig = engineRig([finish]);
    await expect(rig.engine.start('big', big)).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
    await expect(rig.engine.sendTaskSuccess('token', big)).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
    expect(await rig.engine.status('big')).toBe('absent');
  });
});

/** The loop with an Invoke that sends its input twice: the one way a Task input can outgrow the state data. */
function widened(): JsonObject {
  const definition = testLoop();
  const invoke = ((definition['States'] as JsonObject)['Act'] as { ItemProcessor: { States: { Invoke: { Parameters: Json } } } })
    .ItemProcessor.States.Invoke;
  invoke.Parameters = { FunctionName: 'file', 'Payload.$': '$', 'Again.$': '$' };
  return definition;
}

describe('25,000 history events', () => {
  const plan = (next: Plan['next'], count = 1): JsonObject => {
    if (next === 'act') return act(count);
    if (next === 'continue') return { next, name: `${RUN_ID}-2` };
    return next === 'wait' ? { next, seconds: 1 } : { next };
  };

  it.each([
    ['reason', 0, 0],
    ['wait', 0, 0],
    ['suspend', 0, 0],
    ['act', 1, 0],
    ['act', 3, 2],
    ['act', 12, 5],
  ] as const)('the worst case of %s with %i calls and %i retries is what really comes at worst', async (next, count, retries) => {
    const attempts = new Map<string, number>();
    /** Fails as often as the definition will try again. */
    const failFirst = (key: string, times: number, name: string): void => {
      const made = (attempts.get(key) ?? 0) + 1;
      attempts.set(key, made);
      if (made <= times) throw Object.assign(new Error('again'), { name });
    };
    rig = engineRig([], {
      reason: async (event) => {
        const { ctx } = (event as { data: { ctx: typeof CTX } }).data;
        failFirst(`reason ${ctx.step}`, 3, 'Error');
        return { ctx: { ...ctx, step: ctx.step + 1 }, ...(ctx.step === 0 ? plan(next, count) : finish) };
      },
      suspend: async (event) => {
        failFirst('suspend', 3, 'Error');
        await rig.engine.sendTaskSuccess((event as { token: string }).token, {});
      },
      tool: async (_name, call) => {
        const { callId } = call as { callId: string };
        failFirst(`throttled ${callId}`, 5, 'Lambda.TooManyRequestsException');
        failFirst(`tool ${callId}`, retries + 1, retries === 0 ? 'Error' : `RETRY_${retries}`);
        return null;
      },
    });
    const { historyEvents, status } = await rig.run();
    expect(status).toBe('SUCCEEDED');
    // A submitted callback that fails takes one more event on AWS than one that fails to submit; either may come.
    expect(historyEvents).toBe(START_EVENTS + worstCaseEvents(next, count, retries) + worstCaseEvents('finish'));
  });

  it('a continuation takes no more than what is kept free for it', async () => {
    rig = engineRig([plan('continue'), finish]);
    const { historyEvents } = await rig.run();
    expect(historyEvents).toBeLessThanOrEqual(START_EVENTS + worstCaseEvents('continue'));
    expect(worstCaseEvents('continue')).toBe(END_EVENTS);
  });

  it('ends an execution that never stops, as AWS would', async () => {
    rig = engineRig([], { reason: async () => ({ ctx: CTX, ...act(40) }), tool: async () => null });
    const closed = await rig.run();
    expect(closed).toMatchObject({ status: 'FAILED', error: 'States.Runtime' });
    expect(closed.historyEvents).toBeGreaterThan(HISTORY_HARD_LIMIT);
    expect(closed.historyEvents).toBeLessThan(HISTORY_HARD_LIMIT + 500);
  });
});
