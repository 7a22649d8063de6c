import { afterEach, describe, expect, it } from 'vitest';
import { CTX, calls, engineRig, type Rig, RUN_ID } from '../../support/engine-rig.ts';
import { countTransitions } from '../../support/transitions.ts';

const finish = { next: 'finish' };
const act = (count: number) => ({ next: 'act', calls: calls(count) });

let rig: Rig;
afterEach(async () => rig.engine.stop(0));

describe('names and stopping', () => {
  it('uses a name once in the life of the engine', async () => {
    rig = engineRig([{ next: 'suspend' }]);
    expect(await rig.engine.status('r-1')).toBe('absent');
    expect(await rig.engine.start('r-1', { ctx: CTX })).toBe('started');
    expect(await rig.engine.status('r-1')).toBe('running');
    expect(await rig.engine.start('r-1', { ctx: CTX })).toBe('exists');
    await rig.engine.stop();
    expect(await rig.engine.status('r-1')).toBe('closed');
    expect(await rig.closed('r-1')).toMatchObject({ status: 'ABORTED' });
  });

  it.each(['', 'a b', 'a:b', 'x'.repeat(81)])('refuses the name %j as AWS does', async (name) => {
    rig = engineRig([finish]);
    await expect(rig.engine.start(name, { ctx: CTX })).rejects.toMatchObject({ code: 'BAD_REQUEST' });
  });

  it('aborts the handlers in flight of one run and lets its execution go on', async () => {
    const started = Promise.withResolvers<void>();
    const reasons: unknown[] = [];
    rig = engineRig([act(1), finish], {
      tool: async (_name, _call, signal) => {
        started.resolve();
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
        reasons.push(signal.reason);
        throw signal.reason;
      },
    });
    const ended = rig.run();
    await started.promise;
    rig.engine.abortRun('r-11111111111111111111111111');
    expect(reasons).toEqual([]);
    rig.engine.abortRun(RUN_ID);
    expect(await ended).toMatchObject({ status: 'SUCCEEDED' });
    expect(reasons).toMatchObject([{ code: 'CANCELLED' }]);
    expect(rig.seen[1]?.data.calls).toEqual([{ callId: 'c1-0', error: { Error: 'HandrailError' } }]);
  });

  it('stops: aborts handlers, waits for them, calls none afterwards', async () => {
    const started = Promise.withResolvers<void>();
    let cleaned = false;
    rig = engineRig([], {
      reason: async (_event, signal) => {
        started.resolve();
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
        await new Promise(setImmediate);
        cleaned = true;
        throw new Error('stopped');
      },
    });
    const ended = rig.run();
    await started.promise;
    await rig.engine.stop();
    expect(cleaned).toBe(true);
    expect(await ended).toMatchObject({ status: 'ABORTED' });
    expect(rig.seen).toHaveLength(1);
    await expect(rig.engine.start('r-2', { ctx: CTX })).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  });

  it('does not wait for ever for a handler that ignores its signal', async () => {
    const started = Promise.withResolvers<void>();
    rig = engineRig([], {
      reason: () => {
        started.resolve();
        return new Promise(() => undefined);
      },
    });
    const ended = rig.run();
    await started.promise;
    await rig.engine.stop(1);
    expect(await ended).toMatchObject({ status: 'ABORTED' });
  });

  it('keeps hundreds of executions apart', async () => {
    rig = engineRig([act(3), { next: 'wait', seconds: 1 }, act(1), finish]);
    const names = Array.from({ length: 300 }, (_, index) => `${RUN_ID}-${index + 1}`);
    const closed = await Promise.all(names.map((name) => rig.run(name)));
    expect(closed.map(({ name, status }) => `${name} ${status}`)).toEqual(names.map((name) => `${name} SUCCEEDED`));
    for (const name of names) expect(countTransitions(rig.transitions, name)).toBe(16);
  });
});
