import { expect, it } from 'vitest';
import { canonicalJson } from '../../../lib/core/json.ts';
import type { PlacedEvent } from '../../../lib/core/loop/event.ts';
import { publishedRuns } from '../../../lib/runtime/published-runs.ts';
import { LoopRig } from '../../support/loop-rig.ts';

const told = (runId: string, { key, type, data }: PlacedEvent): string => `${runId} ${key} ${type} ${canonicalJson(data)}`;

function given() {
  const published: string[] = [];
  const rig = new LoopRig({
    turns: [{ calls: [['look', {}]] }, 'done'],
    config: { constraints: { guard: { tool_policy: { look: 'confirm' } } } },
  });
  const runs = publishedRuns(rig.stores.runs, {
    publish: async ({ runId }, events) => void published.push(...events.map((event) => told(runId, event))),
  });
  Object.assign(rig.deps, { runs });
  return { rig, published };
}

it('every event of a run is told, those of people too, as the event log has them, and those of a commit once', async () => {
  const { rig, published } = given();
  const { runId } = await rig.run();
  await rig.decide([{ approvalId: (await rig.pending(runId))[0] ?? '', decision: 'approve' }]);
  await rig.settle(runId);
  const waiting = await rig.run();
  await rig.cancel(waiting.runId);
  await rig.settle(waiting.runId);
  const logOf = async (id: string) => (await rig.stores.runs.readEvents({ tenant: 't1', runId: id }, 0)).map((event) => told(id, event));
  const log = [...(await logOf(runId)), ...(await logOf(waiting.runId))];
  for (const type of ['approval.requested', 'approval.resolved', 'tool.call.completed', 'run.cancel_requested', 'run.finished'])
    expect(log.some((event) => event.includes(` ${type} `))).toBe(true);
  expect([...new Set(published)].sort()).toEqual(log.sort());
  // A person's decision is written by whoever may be the last to do so.
  const repeated = published.filter((event, index) => published.indexOf(event) !== index);
  expect(repeated.filter((event) => !event.includes(' approval.resolved '))).toEqual([]);
});

it('a commit that lost tells nothing', async () => {
  const { rig, published } = given();
  const run = await rig.start();
  const before = published.length;
  const outcome = await rig.deps.runs.commit(
    { ...run, step: 9, events: [{ type: 'run.finished', at: 1, data: {} }] },
    { step: 8, execution: 1, finish: false },
  );
  expect([outcome.committed, published.length]).toEqual([false, before]);
});
