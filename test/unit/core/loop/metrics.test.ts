import { describe, expect, it } from 'vitest';
import { approvalMetricsOf, METRICS, metricsOf } from '../../../../lib/core/loop/metrics.ts';
import type { Run } from '../../../../lib/core/loop/run.ts';
import { openSuspension, T0, waitingRun } from '../../../support/guard.ts';

const event = (type: Run['events'][number]['type'], data: Run['events'][number]['data'] = {}) => ({ type, at: T0, data });
const before = waitingRun({ status: 'running' });

describe('metrics of a commit', () => {
  it('are none when nothing happened that is measured', () => {
    expect(metricsOf(before, { ...before, step: 4 })).toEqual([]);
  });

  it('count what its events tell, each kind by what it is split by', () => {
    const events = [
      event('llm.call.completed'),
      event('tool.call.completed'),
      event('tool.call.completed'),
      event('tool.call.failed', { error: { code: 'TIMEOUT', message: 'secret' } }),
      event('tool.call.failed', { error: { code: 'GUARD_DENIED', message: '' } }),
      event('guard.decision', { decision: 'DENY' }),
      event('approval.requested'),
    ];
    expect(metricsOf(before, { ...before, events })).toEqual([
      { name: 'Iterations', value: 1 },
      { name: 'ToolCalls', value: 2, of: 'OK' },
      { name: 'ToolCalls', value: 1, of: 'TIMEOUT' },
      { name: 'ToolCalls', value: 1, of: 'GUARD_DENIED' },
      { name: 'GuardDecisions', value: 1, of: 'DENY' },
      { name: 'Approvals', value: 1, of: 'pending' },
    ]);
  });

  it('are what was added to tokens, cost and times, not the sums of the run', () => {
    const spent = { promptTokens: 100, completionTokens: 10, totalTokens: 110, costUsd: 0.5, estimated: false };
    const after = {
      ...before,
      usage: { ...spent, promptTokens: 150, costUsd: 0.75 },
      timings: { ...before.timings, modelMs: 900, queueMs: 4_000 },
    };
    expect(metricsOf({ ...before, usage: spent }, after)).toEqual([
      { name: 'PromptTokens', value: 50 },
      { name: 'CostUsd', value: 0.25 },
      { name: 'ModelDuration', value: 900 },
      { name: 'QueueWait', value: 4_000 },
    ]);
  });

  it('tell of the end of a run once, with its active time', () => {
    const ended = { ...before, status: 'limited' as const, outcome: 'loop' as const, activeMs: 1_234 };
    expect(metricsOf(before, ended)).toEqual([
      { name: 'Runs', value: 1, of: 'loop' },
      { name: 'RunDuration', value: 1_234 },
    ]);
    expect(metricsOf(ended, ended)).toEqual([]);
  });
});

describe('metrics of a suspension', () => {
  it('tell how each request ended and how long it waited; one that still waits says nothing', () => {
    const suspension = openSuspension(['c3-0', 'c3-1', 'c3-2']);
    const [first, second, third] = Object.values(suspension.approvals);
    if (!first || !second || !third) throw new Error('three approvals');
    const decided = { ...first, status: 'rejected' as const, decision: { by: 'ann', at: T0 + 5_000, how: 'page' } };
    const approvals = { 'c3-0': decided, 'c3-1': second, 'c3-2': { ...third, status: 'expired' as const } };
    expect(approvalMetricsOf(['c3-0', 'c3-1', 'c3-2', 'c3-9'], { ...suspension, approvals })).toEqual([
      { name: 'Approvals', value: 1, of: 'rejected' },
      { name: 'ApprovalDecisionTime', value: 5_000 },
      { name: 'Approvals', value: 1, of: 'expired' },
      { name: 'ApprovalDecisionTime', value: third.expiresAt - T0 },
    ]);
  });
});

it('every metric that is split names the dimension', () => {
  const split = Object.entries(METRICS).filter(([, { by }]) => by !== undefined);
  expect(split.map(([name]) => name).sort()).toEqual(['Approvals', 'GuardDecisions', 'Runs', 'ToolCalls']);
});
