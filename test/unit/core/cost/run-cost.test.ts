import { describe, expect, it } from 'vitest';
import { awsPricesSchema } from '../../../../lib/core/cost/prices.ts';
import { runCost } from '../../../../lib/core/cost/run-cost.ts';
import { failureTransitions, planTransitions } from '../../../../lib/core/cost/transitions.ts';
import { fakeRun } from '../../api/fake-services.ts';

const prices = awsPricesSchema.parse({});

describe('transitions of a plan', () => {
  it('are those of design 3.1, up to the next Reason', () => {
    expect(planTransitions({ next: 'act', calls: ['c1-0'] })).toBe(4);
    expect(planTransitions({ next: 'act', calls: ['c1-0', 'c1-1', 'c1-2'] })).toBe(6);
    expect(planTransitions({ next: 'wait', seconds: 1 })).toBe(3);
    expect(planTransitions({ next: 'suspend', suspensionId: 'r-00000000000000000000000000-1' })).toBe(3);
    expect(planTransitions({ next: 'reason' })).toBe(2);
    expect(planTransitions({ next: 'finish' })).toBe(3);
    expect(planTransitions({ next: 'continue', name: 'x' })).toBe(4);
  });

  it('of a call that failed count the state that caught it, and the retries before it', () => {
    expect(failureTransitions({ Error: 'Lambda.Unknown' })).toBe(1);
    expect(failureTransitions({ Error: 'RETRY_2' })).toBe(3);
    expect(failureTransitions({ Error: 'RETRY_5' })).toBe(6);
  });
});

describe('transitions of a run', () => {
  it('that an earlier version began are marked as an estimate', () => {
    const { work: _work, ...old } = fakeRun(1);
    expect(runCost(old, { prices, memoryMb: () => 128 }).estimated).toContain('transitions');
    const since = fakeRun(1, { work: { transitions: 9, suspensions: 0, calls: {}, since: 2 } });
    expect(runCost(since, { prices, memoryMb: () => 128 }).estimated).toContain('transitions');
  });
});

describe('the cost of a run', () => {
  const run = fakeRun(1, {
    step: 10,
    timings: { modelMs: 20_000, guardMs: 0, queueMs: 0, toolMs: 3_000, personMs: 0 },
    work: { transitions: 40, suspensions: 1, calls: { code: { count: 2, ms: 3_000 } } },
  });
  const memoryMb = (name: string): number => ({ reason: 512, suspend: 256, code: 2_048 })[name] ?? 0;

  it('sums its parts, each by its own price', () => {
    const cost = runCost(run, { prices, memoryMb });
    // reason 0.5 GB x 20.6 s, suspend 0.25 GB x 0.15 s, code 2 GB x 3.03 s; 13 invocations.
    expect(cost.lambdaUsd).toBeCloseTo((10.3 + 0.0375 + 6.06) * 0.0000133334 + (13 * 0.2) / 1e6, 9);
    expect(cost.transitionsUsd).toBeCloseTo(0.001, 9);
    expect(cost.totalUsd).toBeCloseTo(cost.modelUsd + cost.transitionsUsd + cost.lambdaUsd + cost.dynamodbUsd, 12);
  });

  it('follows the configured prices', () => {
    const free = awsPricesSchema.parse({ transitions_per_million: 0, lambda_gb_second: 0, lambda_requests_per_million: 0 });
    const cost = runCost(run, { prices: free, memoryMb });
    expect(cost).toMatchObject({ transitionsUsd: 0, lambdaUsd: 0 });
    expect(cost.dynamodbUsd).toBeGreaterThan(0);
    expect(() => awsPricesSchema.parse({ lambda: 1 })).toThrow(/lambda/);
  });

  it('of a larger run item is higher: a commit is billed by the whole item', () => {
    const large = { ...run, answer: 'x'.repeat(20_000) };
    expect(runCost(large, { prices, memoryMb }).dynamodbWrites - runCost(run, { prices, memoryMb }).dynamodbWrites).toBeGreaterThan(150);
  });
});
