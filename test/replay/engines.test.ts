import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LoopRig } from '../support/loop-rig.ts';
import { faultsIn, type ReplayServer, replayServer } from '../support/replay.ts';

const TURNS = 12;

describe('replays about local engines', () => {
  let server: ReplayServer;
  beforeAll(async () => {
    server = await replayServer();
  });
  afterAll(() => server.close());

  it('R67: twelve turns, one after another, in the loop alone', async () => {
    const rig = new LoopRig({ turns: (_request, turn) => (turn < TURNS ? { calls: [['look', { turn }]] } : 'done') });
    expect(await rig.run()).toMatchObject({ status: 'succeeded', answer: 'done', frames: [{ iterations: TURNS + 1 }] });
    expect(faultsIn(rig.prompts)).toEqual([]);
  });

  it('R67: the same on the local engine, with every request well formed', async () => {
    const { runId, prompts } = await server.play((turn) => (turn < TURNS ? { calls: [['read_file', { path: `file-${turn}` }]] } : 'done'));
    expect(await server.api.ended(runId)).toMatchObject({ status: 'succeeded', answer: 'done' });
    expect(prompts).toHaveLength(TURNS + 1);
    expect(faultsIn(prompts)).toEqual([]);
    expect(prompts.map(({ messages }) => messages.length)).toEqual(prompts.map((_, turn) => 1 + 2 * turn));
    expect(server.states(runId).filter((state) => state.endsWith('/Invoke'))).toHaveLength(TURNS);
  });
});
