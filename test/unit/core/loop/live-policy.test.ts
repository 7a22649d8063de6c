import { describe, expect, it } from 'vitest';
import { changePolicy, type PolicyScope } from '../../../../lib/core/guard/change-policy.ts';
import type { GuardConstraints } from '../../../../lib/core/guard/constraints.ts';
import { LoopRig, type RigOptions } from '../../../support/loop-rig.ts';

/** A run of serial calls; `between` happens after each of them, while the run is under way. */
async function runWith(options: RigOptions, between: (rig: LoopRig, call: number) => Promise<void>) {
  let calls = 0;
  const rig: LoopRig = new LoopRig({
    ...options,
    tools: [
      {
        definition: { name: 'look' },
        handle: async () => {
          await between(rig, ++calls);
          return 'seen';
        },
      },
      { definition: { name: 'fetch', effectTags: ['net.read'] } },
    ],
  });
  const run = await rig.run();
  const codes = (await rig.transcript(run)).flatMap(({ message }) =>
    message.role === 'observation' ? [message.result.error?.code ?? 'ok'] : [],
  );
  return { rig, run, codes };
}

const set = (rig: LoopRig, guard: GuardConstraints, scope: PolicyScope = 'tenant') =>
  changePolicy(
    { guard: rig.stores.guard, clock: rig.clock, operatorTenant: 't1' },
    { tenant: 't1', principal: 'ops', scope, version: 0, guard },
  );
const twoLooks = { calls: [['look', { at: 1 }] as const, ['look', { at: 2 }] as const] };

describe('a live policy', () => {
  it.each(['tenant', 'deployment'] as const)('of the %s stops a running run at its next preflight, within a batch too', async (scope) => {
    const { rig, codes } = await runWith({ turns: [twoLooks, 'stopped'] }, async (at, call) => {
      if (call === 1) await set(at, { tool_policy: { look: 'deny' } }, scope);
    });
    expect(codes).toEqual(['ok', 'GUARD_DENIED']);
    expect([...rig.handled]).toEqual([['c1-0', 1]]);
    expect(rig.prompts.map((prompt) => prompt.tools.map((tool) => tool.name).includes('look'))).toEqual([true, false]);
  });

  describe('that is written while the model answers', () => {
    /** The model takes `ms`; the policy is there before it has answered. `reads` = how often it was looked at again. */
    function rigOf(ms: number) {
      const reads: string[] = [];
      const rig: LoopRig = new LoopRig({
        turns: (_request, turn) => {
          rig.clock.advance(ms);
          if (turn > 0) return 'done';
          rig.stores.state.policies.set('t1', {
            v: 1,
            version: 1,
            guard: { tool_policy: { '*': 'deny' } },
            updatedAt: 0,
            updatedBy: 'ops',
          });
          return { calls: [['look', {}]] };
        },
      });
      const before = (operation: string) => void (operation === 'getPolicies' && reads.push(operation));
      rig.faults = { ...rig.faults, before };
      return { rig, reads };
    }

    it('holds for what that answer asks for', async () => {
      const { rig } = rigOf(1_001);
      const run = await rig.run();
      expect(rig.handled.size).toBe(0);
      expect(run.status).toBe('succeeded');
      expect(JSON.stringify(rig.prompts[1]?.messages)).toContain('GUARD_DENIED');
    });

    it('is found by one read more, which an answer within a second and one without calls do not make', async () => {
      const slow = rigOf(1_001);
      await slow.rig.run();
      const fast = rigOf(1_000);
      await fast.rig.run();
      expect([slow.reads.length, fast.reads.length]).toEqual([1, 0]);
    });
  });

  it('of another tenant stops nothing', async () => {
    const { codes } = await runWith({ turns: [twoLooks, 'done'] }, async (rig) => {
      rig.stores.state.policies.set('t2', { v: 1, version: 1, guard: { default_policy: 'deny' }, updatedAt: 0, updatedBy: 'x' });
    });
    expect(codes).toEqual(['ok', 'ok']);
  });

  it('denies what a person approved before it', async () => {
    const rig = new LoopRig({
      config: { constraints: { guard: { tool_policy: { look: 'confirm' } } } },
      turns: [{ calls: [['look', {}]] }, 'stopped'],
    });
    const waiting = await rig.run();
    const [approvalId = ''] = await rig.pending(waiting.runId);
    await set(rig, { tool_policy: { look: 'deny' } });
    await rig.decide([{ approvalId, decision: 'approve' }]);
    await rig.settle(waiting.runId);
    expect(rig.handled.size).toBe(0);
    expect(JSON.stringify(rig.prompts[1]?.messages)).toContain('GUARD_DENIED');
  });

  it('and what a person approved are decisions like any, each in the event log', async () => {
    const rig = new LoopRig({
      config: { constraints: { guard: { tool_policy: { look: 'confirm' } } } },
      turns: [{ calls: [['look', {}]] }, 'done'],
    });
    const { runId } = await rig.run();
    const [approvalId = ''] = await rig.pending(runId);
    await rig.decide([{ approvalId, decision: 'approve' }]);
    await rig.settle(runId);
    const events = await rig.stores.runs.readEvents({ tenant: 't1', runId }, 0);
    const decisions = events.flatMap(({ type, data }) =>
      type === 'guard.decision' ? [[data['decision'], data['checker'], data['reason']]] : [],
    );
    expect(decisions).toEqual([
      ['PENDING', 'tool_policy', 'tool policy: "look" is confirm (app)'],
      ['ALLOW', 'confirm', 'a person approved it'],
    ]);
  });

  it('asks a person about what needed none before', async () => {
    const { rig, run } = await runWith({ turns: [twoLooks, 'done'] }, async (at, call) => {
      if (call === 1) await set(at, { tool_policy: { look: 'confirm' } });
    });
    expect(run.status).toBe('waiting');
    const [approvalId = ''] = await rig.pending(run.runId);
    await rig.decide([{ approvalId, decision: 'approve' }]);
    expect(await rig.settle(run.runId)).toMatchObject({ status: 'succeeded' });
  });

  it('can only tighten: `allow` lifts neither a deny nor a confirm of the configuration', async () => {
    const config = { constraints: { guard: { tool_policy: { look: 'confirm', fetch: 'deny' }, max_tool_calls: 2 } } } as const;
    const rig = new LoopRig({ config, turns: [twoLooks, 'done'] });
    await set(rig, { tool_policy: { '*': 'allow' }, default_policy: 'allow', max_tool_calls: 50, flow: 'off' });
    expect(await rig.run()).toMatchObject({ status: 'waiting' });
  });

  it('lowers the number of calls and the budget of a run under way', async () => {
    const limited = await runWith({ turns: [twoLooks, 'done'] }, async (rig, call) => {
      if (call === 1) await set(rig, { max_tool_calls: 1 });
    });
    // Both were counted when the batch was looked at as a whole: what was promised then stands.
    expect(limited.codes).toEqual(['ok', 'ok']);
    const later = await runWith(
      { turns: [{ calls: [['look', { at: 1 }]] }, { calls: [['look', { at: 2 }]] }, 'done'] },
      async (rig, call) => {
        if (call === 1) await set(rig, { max_tool_calls: 1 });
      },
    );
    expect(later.codes).toEqual(['ok', 'GUARD_DENIED']);
    const spent = await runWith({ turns: [twoLooks, 'done'] }, async (rig, call) => {
      if (call === 1) await set(rig, { budget: { total_tokens: 3 } });
    });
    expect(spent.run).toMatchObject({ status: 'limited', outcome: 'budget_exceeded' });
    expect(spent.codes).toEqual(['ok', 'GUARD_DENIED']);
  });

  it('returns to the deployed value when a rule is taken out', async () => {
    const rig = new LoopRig({ turns: [{ calls: [['look', {}]] }, 'done'] });
    await set(rig, { tool_policy: { look: 'deny' } });
    await changePolicy(
      { guard: rig.stores.guard, clock: rig.clock, operatorTenant: undefined },
      { tenant: 't1', principal: 'ops', scope: 'tenant', version: 1, guard: {} },
    );
    expect(await rig.run()).toMatchObject({ status: 'succeeded' });
    expect(rig.handled.size).toBe(1);
  });
});
