import { describe, expect, it } from 'vitest';
import { changePolicy } from '../../../../lib/core/guard/change-policy.ts';
import type { GuardConstraints } from '../../../../lib/core/guard/constraints.ts';
import type { Run } from '../../../../lib/core/loop/run.ts';
import { LoopRig, type RigTool } from '../../../support/loop-rig.ts';

const tools: readonly RigTool[] = [{ definition: { name: 'look' } }];
const events = async (rig: LoopRig, run: Run) => rig.stores.runs.readEvents(run, 0);
const setPolicy = (rig: LoopRig, guard: GuardConstraints) =>
  changePolicy(
    { guard: rig.stores.guard, clock: rig.clock, operatorTenant: 't1' },
    { tenant: 't1', principal: 'ops', scope: 'tenant', version: 0, guard },
  );

describe('a request to cancel', () => {
  it('stands in the event log once, by who asked first, also when that request died half way', async () => {
    const rig = new LoopRig({
      tools,
      config: { constraints: { guard: { tool_policy: { look: 'confirm' } } } },
      turns: [{ calls: [['look', {}]] }],
    });
    const { runId } = await rig.run();
    const { faults } = rig;
    rig.faults = {
      ...faults,
      before(operation) {
        if (operation.includes('write')) throw new Error('killed');
      },
    };
    await expect(rig.cancel(runId)).rejects.toThrow('killed');
    rig.faults = faults;
    await rig.cancel(runId);
    await rig.cancel(runId);
    const run = await rig.settle(runId);
    expect(run.status).toBe('cancelled');
    expect((await events(rig, run)).filter(({ type }) => type === 'run.cancel_requested')).toHaveLength(1);
  });
});

describe('waiting for a permit', () => {
  it('does not go on while people decide', async () => {
    const rig = new LoopRig({
      tools: [{ definition: { name: 'look', parallelSafe: true } }],
      config: { approvals: { ttl_ms: 3_600_000 } },
      turns: [{ calls: [['look', {}]] }, 'done'],
    });
    const { tools: limits } = rig.deps.config.hands.concurrency;
    limits['look'] = 0;
    const { runId } = await rig.start();
    for (let n = 0; n < 3; n++) for (const name of rig.executions.keys()) await rig.advance(name);
    await setPolicy(rig, { tool_policy: { look: 'confirm' } });
    for (let n = 0; n < 4; n++) for (const name of rig.executions.keys()) await rig.advance(name);
    const [approvalId = ''] = await rig.pending(runId);
    rig.clock.advance(600_000);
    await rig.decide([{ approvalId, decision: 'approve' }]);
    for (let n = 0; n < 4; n++) for (const name of rig.executions.keys()) await rig.advance(name);
    limits['look'] = 1;
    const run = await rig.settle(runId);
    expect(rig.handled.size).toBe(1);
    expect(run.status).toBe('succeeded');
  });
});
