import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HandrailError } from '../../lib/core/errors.ts';
import { LoopRig } from '../support/loop-rig.ts';
import { faultsIn, type ReplayServer, replayServer, resultsIn } from '../support/replay.ts';

const list: readonly [string, unknown] = ['list_directory', { path: '.' }];
const write: readonly [string, unknown] = ['write_file', { path: 'a.md', content: 'x', mode: 'overwrite' }];

describe('replays about guards and loops', () => {
  let server: ReplayServer;
  beforeAll(async () => {
    server = await replayServer({ constraints: { guard: { tool_policy: { write_file: 'confirm' } } } });
  });
  afterAll(() => server.close());

  it('R61: of three parallel calls with one left, one is dispatched', async () => {
    const { runId, prompts } = await server.play([{ calls: [list] }, { calls: [list, ['read_file', { path: 'a' }], list] }, 'done'], {
      constraints: { guard: { max_tool_calls: 2 } },
    });
    expect(await server.api.ended(runId)).toMatchObject({ status: 'succeeded' });
    expect(faultsIn(prompts)).toEqual([]);
    expect(resultsIn(prompts[2]).map(({ text }) => text.includes('GUARD_DENIED'))).toEqual([false, true, true]);
    const started = (await server.api.events(runId)).filter(({ type }) => type === 'tool.call.started');
    expect(started).toHaveLength(2);
  });

  it('R61: a call that a person rejects has been counted, and one that policy denies has not', async () => {
    const { runId, prompts } = await server.play([{ calls: [write, list, list] }, { calls: [list] }, 'done'], {
      constraints: { guard: { max_tool_calls: 2 } },
    });
    const [{ approvalId }] = await server.api.approvals(runId, 1);
    await server.api.call('POST', `/approvals/${approvalId}`, { decision: 'reject' });
    await server.api.ended(runId);
    expect(resultsIn(prompts[1]).map(({ text }) => /^[A-Z_]+(?=:)/.exec(text)?.[0])).toEqual([
      'APPROVAL_REJECTED',
      undefined,
      'GUARD_DENIED',
    ]);
    expect(resultsIn(prompts[2]).map(({ text }) => /^[A-Z_]+(?=:)/.exec(text)?.[0])).toEqual(['GUARD_DENIED']);
  });

  it('R63: the model asks for an approved call again: a new call, a new approval', async () => {
    const { runId, prompts } = await server.play([{ calls: [write] }, { calls: [write] }, 'done']);
    const [first] = await server.api.approvals(runId, 1);
    await server.api.call('POST', `/approvals/${first.approvalId}`, { decision: 'approve' });
    const second = await server.api.until('the second approval', async () =>
      (await server.api.approvals(runId, 1)).find(({ approvalId }) => approvalId !== first.approvalId),
    );
    expect(resultsIn(prompts[1])).toHaveLength(1);
    await server.api.call('POST', `/approvals/${second.approvalId}`, { decision: 'reject' });
    expect(await server.api.ended(runId)).toMatchObject({ effects: { 'fs.write': 1 } });
  });

  it('R63: the idempotency key is the same over attempts of one call and another for the next call', async () => {
    const keys: string[] = [];
    const rig = new LoopRig({
      tools: [
        {
          definition: { name: 'look', idempotent: true },
          handle: (_args, { idempotencyKey }) => {
            keys.push(idempotencyKey);
            if (keys.length === 1) throw new HandrailError('SERVICE_UNAVAILABLE', '503');
            return 'ok';
          },
        },
      ],
      turns: [{ calls: [['look', { at: 1 }]] }, { calls: [['look', { at: 1 }]] }, 'done'],
    });
    const { runId } = await rig.run();
    // Two attempts of the first call, one of the second.
    expect(keys).toEqual([`${runId}:c1-0`, `${runId}:c1-0`, `${runId}:c2-0`]);
    expect(rig.states.filter((state) => state === 'Invoke')).toHaveLength(3);
  });
});
