import { describe, expect, it } from 'vitest';
import { budgetChecker } from '../../../../../lib/core/guard/checkers/budget.ts';
import { rateLimitChecker } from '../../../../../lib/core/guard/checkers/rate-limit.ts';
import type { Budget } from '../../../../../lib/core/guard/constraints.ts';
import { noUsage, type Usage } from '../../../../../lib/core/loop/usage.ts';
import { appConstraints, toolContext } from '../../../../support/guard.ts';

const limiter = (max: number | null) =>
  rateLimitChecker({ constraints: appConstraints({ max_tool_calls: max }), confirmDefault: undefined });

describe('rate limit', () => {
  it('denies the call after the last that fits, and goes on denying', async () => {
    const checker = limiter(2);
    const decisions: string[] = [];
    for (let call = 0; call < 4; call++) decisions.push((await checker.check('tool_call', toolContext({ name: 'a' })))[0]);
    expect(decisions).toEqual(['ALLOW', 'ALLOW', 'DENY', 'DENY']);
    expect(checker.save?.()).toEqual({ call_count: 2 });
  });

  it('does not count a call that was counted before, nor LLM calls', async () => {
    const checker = limiter(1);
    await checker.check('tool_call', toolContext({ name: 'a' }));
    expect((await checker.check('tool_call', toolContext({ name: 'a' }, { metadata: { counted: true } })))[0]).toBe('ALLOW');
    expect((await checker.check('llm_call', { action: 'llm_call', usage: noUsage, metadata: {} }))[0]).toBe('ALLOW');
    expect(checker.save?.()).toEqual({ call_count: 1 });
  });

  it('goes on counting after its state was kept, and starts again after reset', async () => {
    const first = limiter(3);
    await first.check('tool_call', toolContext({ name: 'a' }));
    const second = limiter(3);
    second.restore?.(first.save?.() ?? {});
    await second.check('tool_call', toolContext({ name: 'a' }));
    expect(second.save?.()).toEqual({ call_count: 2 });
    second.reset();
    expect(second.save?.()).toEqual({ call_count: 0 });
  });

  it('denies everything at 0 and nothing at null', async () => {
    expect((await limiter(0).check('tool_call', toolContext({ name: 'a' })))[0]).toBe('DENY');
    expect((await limiter(null).check('tool_call', toolContext({ name: 'a' })))[0]).toBe('ALLOW');
  });

  it('refuses a state that is none', () => {
    expect(() => limiter(1).restore?.({ call_count: 'many' })).toThrow();
  });
});

const check = async (budget: Budget, usage: Partial<Usage>, action: 'tool_call' | 'llm_call' = 'llm_call') =>
  (
    await budgetChecker({ constraints: appConstraints({ budget }), confirmDefault: undefined }).check(action, {
      action,
      usage: { ...noUsage, ...usage },
      metadata: {},
    })
  )[0];

describe('budget', () => {
  it.each([
    ['total_tokens', 'totalTokens'],
    ['prompt_tokens', 'promptTokens'],
    ['completion_tokens', 'completionTokens'],
    ['cost_usd', 'costUsd'],
  ] as const)('denies LLM and tool calls once %s is over, not when it is reached', async (limit, used) => {
    expect(await check({ [limit]: 10 }, { [used]: 10 })).toBe('ALLOW');
    expect(await check({ [limit]: 10 }, { [used]: 10.01 })).toBe('DENY');
    expect(await check({ [limit]: 10 }, { [used]: 11 }, 'tool_call')).toBe('DENY');
    expect(await check({ [limit]: null }, { [used]: 1e12 })).toBe('ALLOW');
    expect(await check({}, { [used]: 1e12 })).toBe('ALLOW');
  });

  it('is not disabled by usage that is not a number', async () => {
    expect(await check({ total_tokens: 10 }, { totalTokens: Number.NaN })).toBe('DENY');
    expect(await check({ total_tokens: Number.NaN }, { totalTokens: 1 })).toBe('DENY');
  });
});
