import { describe, expect, it } from 'vitest';
import {
  type Constraints,
  constraintsSchema,
  type Layer,
  mergeConstraints,
  mergedConstraintsSchema,
  strictestPolicy,
} from '../../../../lib/core/guard/constraints.ts';
import { withLivePolicy } from '../../../../lib/core/guard/policy.ts';

const merge = (layers: Partial<Record<Layer, Constraints>>) =>
  mergeConstraints(Object.entries(layers).map(([layer, constraints]) => ({ layer: layer as Layer, constraints })));

describe('merging constraints', () => {
  it('starts from the defaults, and says so', () => {
    const merged = merge({});
    expect(merged).toMatchObject({ max_iterations: 25, timeout: 3_600_000, max_messages: 80, history_limit: 20 });
    expect(merged.guard).toEqual({
      tool_policy: [],
      max_tool_calls: null,
      budget: { total_tokens: null, prompt_tokens: null, completion_tokens: null, cost_usd: null },
      flow: 'confirm',
    });
    expect(merged.execution).toEqual({ network: true, timeout_s: null });
    expect(new Set(Object.values(merged.origins))).toEqual(new Set(['default']));
    expect(mergedConstraintsSchema.parse(merged)).toEqual(merged);
  });

  it('lets the app replace a default in either direction', () => {
    expect(merge({ app: { max_iterations: 100, guard: { flow: 'off' } } })).toMatchObject({
      max_iterations: 100,
      guard: { flow: 'off' },
      origins: { max_iterations: 'app', 'guard.flow': 'app' },
    });
  });

  it('takes the smallest of each number and names the layer it came from', () => {
    const merged = merge({
      app: { max_iterations: 50, timeout: 1000, guard: { max_tool_calls: 20, budget: { total_tokens: 100, cost_usd: null } } },
      agent: { max_iterations: 60, guard: { max_tool_calls: 30, budget: { total_tokens: 50 } } },
      run: { max_iterations: 10, timeout: 2000, guard: { budget: { total_tokens: 70, cost_usd: 1 } } },
      skill: { guard: { max_tool_calls: 2 } },
    });
    expect(merged).toMatchObject({
      max_iterations: 10,
      timeout: 1000,
      guard: { max_tool_calls: 2, budget: { total_tokens: 50, cost_usd: 1, prompt_tokens: null } },
    });
    expect(merged.origins).toMatchObject({
      max_iterations: 'run',
      timeout: 'app',
      'guard.max_tool_calls': 'skill',
      'guard.budget.total_tokens': 'agent',
      'guard.budget.cost_usd': 'run',
    });
  });

  it('does not let null, a run or a skill lift a limit', () => {
    const merged = merge({
      app: { guard: { max_tool_calls: 3, flow: 'deny' } },
      run: { max_iterations: 1000, guard: { max_tool_calls: null, flow: 'off' } },
    });
    expect(merged).toMatchObject({ max_iterations: 25, guard: { max_tool_calls: 3, flow: 'deny' } });
  });

  it('takes the first declared window, the agent before skills, never above the app', () => {
    expect(merge({ app: { history_limit: 10 }, agent: { history_limit: 5 }, skill: { history_limit: 2 } }).history_limit).toBe(5);
    expect(merge({ app: { history_limit: 10 }, skill: { history_limit: 2 } }).history_limit).toBe(2);
    expect(merge({ app: { history_limit: 10 }, agent: { history_limit: 50 } }).history_limit).toBe(10);
    expect(merge({ agent: { max_messages: 200 } }).max_messages).toBe(200);
    expect(merge({ run: { max_messages: 200 } }).max_messages).toBe(80);
  });

  it('takes no network and the shortest timeout of all layers, whatever the order', () => {
    const skills: Constraints[] = [
      { execution: { network: true, timeout_s: 20 } },
      { execution: { mode: 'local', network: 'none', timeout_s: 30 } },
      { execution: { network: false, timeout_s: null } },
    ];
    for (const order of [skills, skills.toReversed()]) {
      const merged = mergeConstraints([
        { layer: 'app', constraints: { execution: { network: true, timeout_s: 60 } } },
        ...order.map((constraints) => ({ layer: 'skill' as const, constraints })),
      ]);
      expect(merged.execution).toEqual({ network: false, timeout_s: 20 });
      expect(merged.origins).toMatchObject({ 'execution.network': 'skill', 'execution.timeout_s': 'skill' });
    }
    expect(
      merge({ app: { execution: { network: false, timeout_s: 5 } }, run: { execution: { network: true, timeout_s: 9 } } }),
    ).toMatchObject({
      execution: { network: false, timeout_s: 5 },
      origins: { 'execution.network': 'app', 'execution.timeout_s': 'app' },
    });
  });

  it('refuses what only a container could do, and says why and what to do', () => {
    const messages = (execution: unknown): string[] =>
      constraintsSchema.safeParse({ execution }).error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) ?? [];
    for (const execution of [{ mode: 'docker' }, { docker_image: 'python:3.12' }])
      expect(messages(execution)).toEqual([expect.stringMatching(/^execution\.\w+: there are no containers here: .*handler skill$/)]);
    expect(messages({ network: 'bridge' })).toEqual([expect.stringContaining('execution.network: is true, false or none')]);
    expect(messages({ timeout_s: 0.5 })).toHaveLength(1);
    expect(messages({ memory_mb: 5 })).toHaveLength(1);
    expect(messages({ mode: 'local', network: 'none', timeout_s: 1.5 })).toEqual([]);
  });

  it('reads what was merged before there was execution as nothing tightened', () => {
    const { execution: _execution, ...earlier } = merge({});
    expect(mergedConstraintsSchema.parse(earlier).execution).toEqual({ network: true, timeout_s: null });
  });

  it('keeps every layer of tool policy, skills apart', () => {
    const merged = mergeConstraints([
      { layer: 'app', constraints: { guard: { tool_policy: { a: 'allow' }, default_policy: 'confirm' } } },
      { layer: 'run', constraints: { max_iterations: 3 } },
      { layer: 'skill', constraints: { guard: { tool_policy: { a: ['deny'] } } } },
      { layer: 'skill', constraints: { guard: { tool_policy: { a: 'allow' } } } },
    ]);
    expect(merged.guard.tool_policy).toEqual([
      { layer: 'app', rules: { a: ['allow'] }, default_policy: 'confirm' },
      { layer: 'skill', rules: { a: ['deny'] } },
      { layer: 'skill', rules: { a: ['allow'] } },
    ]);
  });

  it('adds live policies as further layers and leaves what was merged alone', () => {
    const merged = merge({ app: { guard: { flow: 'confirm' } } });
    const policy = { v: 1 as const, version: 4, updatedAt: 0, updatedBy: 'op' };
    const now = withLivePolicy(merged, [
      { ...policy, guard: { flow: 'deny', tool_policy: { execute_shell: 'deny' } } },
      { ...policy, guard: { flow: 'off' } },
    ]);
    expect(now.guard.flow).toBe('deny');
    expect(now.origins['guard.flow']).toBe('policy');
    expect(now.guard.tool_policy).toEqual([{ layer: 'policy', rules: { execute_shell: ['deny'] } }]);
    expect(merged.guard).toMatchObject({ flow: 'confirm', tool_policy: [] });
  });

  it('orders policies', () => {
    expect(strictestPolicy('allow', 'deny', 'confirm')).toBe('deny');
    expect(strictestPolicy('allow', 'confirm')).toBe('confirm');
    expect(strictestPolicy()).toBe('allow');
  });
});
