import { afterEach, describe, expect, it, vi } from 'vitest';
import type { JsonObject } from '../../../lib/core/json.ts';
import { CTX, calls, engineRig, type Rig, RUN_ID, resultsAt, until } from '../../support/engine-rig.ts';
import { countTransitions, transitionsPerPass } from '../../support/transitions.ts';

const finish = { next: 'finish' };
const act = (count: number, extra: JsonObject = {}) => ({ next: 'act', calls: calls(count, extra) });
const failing = (name: string, message = 'no'): Error => Object.assign(new Error(message), { name });

let rig: Rig;
afterEach(async () => {
  vi.useRealTimers();
  await rig.engine.stop(0);
});

describe('the loop on the embedded engine', () => {
  it('answers without a tool: Reason, Route, Finish, and gives the context back', async () => {
    rig = engineRig([finish]);
    const closed = await rig.run();
    expect(closed).toMatchObject({ status: 'SUCCEEDED', output: { ...CTX, step: 1 } });
    expect(rig.seen).toEqual([{ data: { ctx: CTX }, execution: `${RUN_ID}-1` }]);
    expect(rig.transitions.map(({ state }) => state)).toEqual(['Reason', 'Route', 'Finish']);
    expect(await rig.engine.status(`${RUN_ID}-1`)).toBe('closed');
  });

  it('runs one call in 4 transitions and puts its result in place of the arguments', async () => {
    const invoked: unknown[] = [];
    rig = engineRig([act(1, { arguments: { path: 'a' } }), finish], {
      tool: async (name, call) => {
        invoked.push([name, call]);
        return { callId: 'c1-0', result: { success: true } };
      },
    });
    await rig.run();
    expect(invoked).toEqual([['file', { callId: 'c1-0', functionName: 'file', arguments: { path: 'a' } }]]);
    expect(rig.seen[1]?.data).toEqual({ ctx: { ...CTX, step: 1 }, next: 'act', calls: [{ callId: 'c1-0', result: { success: true } }] });
    expect(transitionsPerPass(rig.transitions)).toEqual([4]);
    expect(countTransitions(rig.transitions, `${RUN_ID}-1`)).toBe(7);
  });

  it.each([1, 3, 10, 25])('runs a parallel stage of %i in 3 + n transitions, results in the order of the calls', async (n) => {
    let running = 0;
    let most = 0;
    rig = engineRig([act(n), finish], {
      tool: async (_name, call) => {
        most = Math.max(most, ++running);
        for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate);
        running--;
        return { callId: (call as JsonObject)['callId'] };
      },
    });
    await rig.run();
    expect(rig.seen[1]?.data.calls).toEqual(calls(n).map(({ callId }) => ({ callId })));
    expect(transitionsPerPass(rig.transitions)).toEqual([3 + n]);
    expect(most).toBe(Math.min(n, 10));
  });

  it('runs three serial stages of one call in 12 transitions', async () => {
    rig = engineRig([act(1), act(1), act(1), finish]);
    await rig.run();
    expect(transitionsPerPass(rig.transitions)).toEqual([4, 4, 4]);
  });

  it('waits and goes on with the same data: 3 transitions more', async () => {
    rig = engineRig([{ next: 'wait', seconds: 4 }, act(1), finish]);
    await rig.run();
    expect(rig.seen[1]?.data).toEqual({ ctx: { ...CTX, step: 1 }, next: 'wait', seconds: 4 });
    expect(transitionsPerPass(rig.transitions)).toEqual([3, 4]);
  });

  it('waits for the seconds of the plan', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    rig = engineRig([{ next: 'wait', seconds: 4 }, finish], { realPauses: true });
    const ended = rig.run();
    await until(() => rig.transitions.at(-1)?.state === 'Wait');
    await vi.advanceTimersByTimeAsync(3_999);
    expect(rig.seen).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    await ended;
    expect(rig.seen).toHaveLength(2);
  });

  it('passes straight back to Reason when everything was answered without running', async () => {
    rig = engineRig([{ next: 'reason' }, finish]);
    await rig.run();
    expect(transitionsPerPass(rig.transitions)).toEqual([2]);
  });

  it('continues in a new execution that starts from the context', async () => {
    rig = engineRig([{ next: 'continue', name: `${RUN_ID}-2` }, finish]);
    expect(await rig.run()).toMatchObject({ status: 'SUCCEEDED', output: { ...CTX, step: 1 } });
    expect(await rig.closed(`${RUN_ID}-2`)).toMatchObject({ status: 'SUCCEEDED', output: { ...CTX, step: 2 } });
    expect(rig.seen[1]).toEqual({ data: { ctx: { ...CTX, step: 1 } }, execution: `${RUN_ID}-2` });
  });

  it('finishes when the execution to continue in is there already', async () => {
    rig = engineRig([{ next: 'continue', name: `${RUN_ID}-2` }, finish]);
    await rig.run(`${RUN_ID}-2`, { ctx: { ...CTX, step: 1 } });
    expect(await rig.run()).toMatchObject({ status: 'SUCCEEDED', output: { ...CTX, step: 1 } });
    expect(rig.seen).toHaveLength(2);
    expect(rig.transitions.filter(({ kind }) => kind === 'retried')).toEqual([]);
  });

  it('passes recover on to the first Reason only', async () => {
    rig = engineRig([act(1), finish]);
    await rig.run(undefined, { ctx: CTX, recover: true });
    expect(rig.seen.map(({ data }) => data.recover)).toEqual([true, undefined]);
  });
});

describe('failures of Lambdas', () => {
  it('turns a crash into data without the cause: 1 transition more, the other call unharmed', async () => {
    rig = engineRig([act(2), finish], {
      tool: async (_name, call) => {
        if ((call as JsonObject)['callId'] === 'c1-0') throw failing('TypeError', 'x is not a function');
        return { callId: 'c1-1', result: {} };
      },
    });
    await rig.run();
    expect(rig.seen[1]?.data.calls).toEqual([
      { callId: 'c1-0', error: { Error: 'TypeError' } },
      { callId: 'c1-1', result: {} },
    ]);
    expect(transitionsPerPass(rig.transitions)).toEqual([6]);
  });

  it('catches what a handler throws synchronously, and what is no Error', async () => {
    rig = engineRig([act(2), finish], {
      tool: (_name, call) => {
        if ((call as JsonObject)['callId'] === 'c1-0') throw failing('RangeError');
        return Promise.reject('plain text');
      },
    });
    await rig.run();
    expect(rig.seen[1]?.data.calls).toEqual([
      { callId: 'c1-0', error: { Error: 'RangeError' } },
      { callId: 'c1-1', error: { Error: 'string' } },
    ]);
  });

  it('does not repeat a call that failed with anything but a retry error', async () => {
    let times = 0;
    rig = engineRig([act(1), finish], {
      tool: async () => {
        times++;
        throw failing('RETRY_4');
      },
    });
    await rig.run();
    expect(times).toBe(1);
  });

  it.each([1, 2, 3, 5])('tries RETRY_%i that often again, then hands back the last error as AWS writes it', async (n) => {
    let times = 0;
    rig = engineRig([act(1), finish], {
      tool: async () => {
        throw failing(`RETRY_${n}`, JSON.stringify({ code: 'NETWORK_ERROR', message: `try ${++times}` }));
      },
    });
    await rig.run();
    expect(times).toBe(1 + n);
    const [result] = resultsAt(rig, 1);
    expect(result).toEqual({ callId: 'c1-0', error: { Error: `RETRY_${n}`, Cause: expect.any(String) } });
    const { error } = result as { error: { Cause: string } };
    const cause = JSON.parse(error.Cause) as { errorType: string; errorMessage: string; trace: string[] };
    expect(Object.keys(cause)).toEqual(['errorType', 'errorMessage', 'trace']);
    expect(cause.errorType).toBe(`RETRY_${n}`);
    expect(JSON.parse(cause.errorMessage)).toEqual({ code: 'NETWORK_ERROR', message: `try ${1 + n}` });
    expect(transitionsPerPass(rig.transitions)).toEqual([4 + n + 1]);
  });

  it('keeps the result of a retry that succeeds: 1 transition per retry', async () => {
    let times = 0;
    rig = engineRig([act(1), finish], {
      tool: async () => {
        if (++times < 3) throw failing('RETRY_2');
        return { callId: 'c1-0', result: { success: true } };
      },
    });
    await rig.run();
    expect(rig.seen[1]?.data.calls).toEqual([{ callId: 'c1-0', result: { success: true } }]);
    expect(transitionsPerPass(rig.transitions)).toEqual([6]);
  });

  it('tries Reason three times more with the same event, then fails the execution', async () => {
    rig = engineRig([], { reason: async () => Promise.reject(failing('HandrailError', 'no table')) });
    const closed = await rig.run();
    expect(rig.seen).toHaveLength(4);
    expect(new Set(rig.seen.map((event) => JSON.stringify(event))).size).toBe(1);
    expect(closed).toMatchObject({ status: 'FAILED', error: 'HandrailError' });
    expect(JSON.parse(closed.cause ?? '')).toMatchObject({ errorType: 'HandrailError', errorMessage: 'no table' });
  });

  it('fails the execution when Reason answers something Route does not know', async () => {
    rig = engineRig([{ next: 'dance' }]);
    expect(await rig.run()).toMatchObject({ status: 'FAILED', error: 'States.NoChoiceMatched' });
  });
});

describe('JSON only', () => {
  it('gives handlers copies and drops what JSON cannot hold', async () => {
    const kept: JsonObject[] = [];
    rig = engineRig([act(1, { arguments: { a: 1 } }), finish], {
      tool: async (_name, call) => {
        const own = call as JsonObject;
        kept.push(own);
        own['arguments'] = 'changed';
        return { callId: 'c1-0', at: new Date(0), none: undefined, nan: Number.NaN, proto: JSON.parse('{"__proto__":{"x":1}}') };
      },
    });
    await rig.run();
    const [result] = resultsAt(rig, 1);
    expect(JSON.stringify(result)).toBe('{"callId":"c1-0","at":"1970-01-01T00:00:00.000Z","nan":null,"proto":{"__proto__":{"x":1}}}');
    expect(({} as { x?: number }).x).toBeUndefined();
  });

  it.each([[false], [0], [''], [null], [[]], [[[1], [2]]], [{}], ['$.callId']])('hands on %j as it is', async (value) => {
    rig = engineRig([act(2), finish], { tool: async () => value });
    await rig.run();
    expect(rig.seen[1]?.data.calls).toEqual([value, value]);
  });

  it('answers null for a handler that returns nothing', async () => {
    rig = engineRig([act(1), finish], { tool: async () => undefined });
    await rig.run();
    expect(rig.seen[1]?.data.calls).toEqual([null]);
  });

  it('fails like Lambda for an answer that is no JSON', async () => {
    rig = engineRig([act(1), finish], { tool: async () => ({ big: 1n }) });
    await rig.run();
    expect(rig.seen[1]?.data.calls).toEqual([{ callId: 'c1-0', error: { Error: 'TypeError' } }]);
  });
});
