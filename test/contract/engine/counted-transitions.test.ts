import { describe, expect, it } from 'vitest';
import { benchModel, withRuntime } from '../../bench/bench-runtime.ts';

describe('transitions of a run', () => {
  it('are exactly those that the engine made, with a stage of three, an approval, and the end', async () => {
    let made = 0;
    const list = (depth: number) => ['list_directory', { path: '.', depth }] as const;
    const model = benchModel([list(1), list(2), list(3)], 2, () => undefined);
    const config = { constraints: { guard: { tool_policy: { list_directory: 'confirm' as const } } } };
    await withRuntime({ model, config, engine: { onTransition: () => made++ } }, async (api) => {
      const runId = await api.start('count');
      for (let turn = 0; turn < 2; turn++)
        for (const { approvalId } of await api.approvals(runId, 3))
          await api.call('POST', `/approvals/${approvalId}`, { decision: 'approve' });
      const run = await api.ended(runId);
      expect(run.costs.transitions).toBe(made);
      expect(run.costs.estimated).toEqual(['lambda', 'dynamodb']);
      expect(run.costs.transitionsUsd).toBeCloseTo((made * 25) / 1e6, 10);
    });
  });
});
