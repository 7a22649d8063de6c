import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type Constraints, mergeConstraints, strictestFlowMode } from '../../lib/core/guard/constraints.ts';
import { tightened } from '../../lib/core/skills/tighten.ts';

const limit = fc.option(fc.integer({ min: 1, max: 50 }), { nil: undefined });
const constraints: fc.Arbitrary<Constraints> = fc
  .record({
    max_iterations: limit,
    timeout: limit,
    max_messages: limit,
    history_limit: limit,
    max_tool_calls: limit,
    total_tokens: limit,
    flow: fc.constantFrom(undefined, 'off' as const, 'confirm' as const, 'deny' as const),
    network: fc.constantFrom(undefined, true, false, 'none' as const),
    timeout_s: limit,
    policy: fc.constantFrom(undefined, 'allow' as const, 'confirm' as const, 'deny' as const),
  })
  .map(({ max_tool_calls, total_tokens, flow, policy, network, timeout_s, ...rest }) => {
    const guard = { max_tool_calls, budget: { total_tokens }, flow, tool_policy: policy && { write_file: policy } };
    return JSON.parse(JSON.stringify({ ...rest, guard, execution: { network, timeout_s } })) as Constraints;
  });
const layers = fc.record({ app: constraints, agent: constraints, run: constraints });
const merge = ({ app, agent, run }: { app: Constraints; agent: Constraints; run: Constraints }, ...skills: Constraints[]) =>
  mergeConstraints([
    { layer: 'app', constraints: app },
    { layer: 'agent', constraints: agent },
    { layer: 'run', constraints: run },
    ...skills.map((skill) => ({ layer: 'skill' as const, constraints: skill })),
  ]);

it('a skill that is brought in while a run runs holds it as if it had been chosen at the start', () => {
  fc.assert(
    fc.property(layers, constraints, (base, skill) => {
      const { origins: _late, max_messages: lateMessages, history_limit: lateHistory, ...late } = tightened(merge(base), skill);
      const { origins: _chosen, max_messages: messages, history_limit: history, ...chosen } = merge(base, skill);
      expect(late).toEqual(chosen);
      // Of these the first that declares one decides, which cannot be told any more where the app's was smaller.
      expect(lateMessages).toBeLessThanOrEqual(messages);
      expect(lateHistory).toBeLessThanOrEqual(history);
    }),
  );
});

it('brought in again it changes nothing, and no skill ever loosens', () => {
  fc.assert(
    fc.property(layers, constraints, constraints, (base, one, two) => {
      const before = merge(base);
      const once = tightened(before, one);
      expect(tightened(once, one)).toEqual(once);
      const after = tightened(once, two);
      expect(after.max_iterations).toBeLessThanOrEqual(before.max_iterations);
      expect(after.timeout).toBeLessThanOrEqual(before.timeout);
      expect(after.max_messages).toBeLessThanOrEqual(before.max_messages);
      expect(after.guard.max_tool_calls ?? 1e9).toBeLessThanOrEqual(before.guard.max_tool_calls ?? 1e9);
      expect(after.guard.budget.total_tokens ?? 1e9).toBeLessThanOrEqual(before.guard.budget.total_tokens ?? 1e9);
      expect(before.execution.network || !after.execution.network).toBe(true);
      expect(after.execution.timeout_s ?? 1e9).toBeLessThanOrEqual(before.execution.timeout_s ?? 1e9);
      expect(strictestFlowMode(before.guard.flow, after.guard.flow)).toBe(after.guard.flow);
      for (const rule of before.guard.tool_policy) expect(after.guard.tool_policy).toContainEqual(rule);
    }),
  );
});
