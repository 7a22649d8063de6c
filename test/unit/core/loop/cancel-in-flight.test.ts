import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { faultsIn, type ReplayServer, replayServer, resultsIn } from '../../../support/replay.ts';

describe('cancelling on the embedded engine', () => {
  let server: ReplayServer;
  beforeAll(async () => {
    server = await replayServer({ agents: { default: {}, beside: { mode: 'parallel' } } });
  });
  afterAll(() => server.close());

  const codes = async (sessionId: string) => {
    const next = await server.play(['done'], { sessionId });
    await server.api.ended(next.runId);
    expect(faultsIn(next.prompts)).toEqual([]);
    return resultsIn(next.prompts[0]).map(({ text }) => /^[A-Z_]+(?=:)/.exec(text)?.[0] ?? 'ok');
  };
  const inFlight = (runId: string, count: number) =>
    server.api.until('calls in flight', async () =>
      (await server.api.events(runId)).filter(({ type }) => type === 'tool.call.started').length >= count ? true : undefined,
    );

  it('in the middle of a parallel stage: what came is kept, what was at work is cancelled', async () => {
    const { runId } = await server.play(
      [
        {
          calls: [
            ['list_directory', {}],
            ['execute_shell', { code: 'sleep 20' }],
          ],
        },
      ],
      {
        agent: 'beside',
        sessionId: 'parallel',
      },
    );
    await inFlight(runId, 2);
    await server.api.call('POST', `/runs/${runId}/cancel`);
    expect(await server.api.ended(runId)).toMatchObject({ status: 'cancelled' });
    const [listed, slept] = await codes('parallel');
    expect(slept).toBe('CANCELLED');
    expect(['ok', 'CANCELLED']).toContain(listed);
  });

  it('between the stages of a batch: what had not begun did not run', async () => {
    const { runId } = await server.play(
      [
        {
          calls: [
            ['execute_shell', { code: 'sleep 20' }],
            ['execute_shell', { code: 'echo never' }],
          ],
        },
      ],
      {
        sessionId: 'serial',
      },
    );
    await inFlight(runId, 1);
    await server.api.call('POST', `/runs/${runId}/cancel`);
    await server.api.call('POST', `/runs/${runId}/cancel`);
    const run = await server.api.ended(runId);
    expect(run).toMatchObject({ status: 'cancelled', outcome: 'cancelled' });
    expect((await server.api.events(runId)).filter(({ type }) => type === 'tool.call.started')).toHaveLength(1);
    expect(await codes('serial')).toEqual(['CANCELLED', 'CANCELLED']);
  });
});
