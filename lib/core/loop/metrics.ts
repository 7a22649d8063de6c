import type { Approval, ApprovalStatus, Suspension } from '../guard/approvals/suspension.ts';
import type { Json } from '../json.ts';
import type { Run } from './run.ts';
import { isTerminal } from './run-status.ts';
import type { SweepReport } from './sweep.ts';

/** Every metric, its unit as CloudWatch spells it, and what it is split by. The dashboard, the alarms and the documentation are made from this. */
export const METRICS = {
  /** Runs that ended. */
  Runs: { unit: 'Count', by: 'Outcome' },
  /** Active time of runs that ended: waiting for people does not count. */
  RunDuration: { unit: 'Milliseconds', by: undefined },
  /** Calls of a model that answered. */
  Iterations: { unit: 'Count', by: undefined },
  ModelFailures: { unit: 'Count', by: undefined },
  /** Time in calls of models, of one step. */
  ModelDuration: { unit: 'Milliseconds', by: undefined },
  /** Tool calls that were answered; code `OK` for success, `PARTIAL_SUCCESS` where a part of it failed. */
  ToolCalls: { unit: 'Count', by: 'Code' },
  GuardDecisions: { unit: 'Count', by: 'Decision' },
  /** Requests to people: `pending` when asked, then by how they ended. */
  Approvals: { unit: 'Count', by: 'Status' },
  /** From request to final decision. */
  ApprovalDecisionTime: { unit: 'Milliseconds', by: undefined },
  /** Age of the request that has waited longest, looked at every minute; 0 when nothing waits. */
  OldestApproval: { unit: 'Milliseconds', by: undefined },
  /** Items at which a pass of sweep failed; they are tried again, after 1 minute first, 15 at most. */
  SweepFailures: { unit: 'Count', by: undefined },
  /** Of these, the ones that failed four times in a row or more. */
  SweepStuck: { unit: 'Count', by: undefined },
  /** For how long the oldest item that a pass of sweep had no time for has been due; 0 when it came to all. */
  SweepBehind: { unit: 'Milliseconds', by: undefined },
  PromptTokens: { unit: 'Count', by: undefined },
  CompletionTokens: { unit: 'Count', by: undefined },
  /** What models cost by the configured prices, US dollars. */
  CostUsd: { unit: 'None', by: undefined },
  /** Time that calls waited for a permit, of one step: those that got one, and those that gave up. */
  QueueWait: { unit: 'Milliseconds', by: undefined },
} as const satisfies Record<string, { unit: 'Count' | 'Milliseconds' | 'None'; by: string | undefined }>;
export type MetricName = keyof typeof METRICS;

export interface Measure {
  readonly name: MetricName;
  readonly value: number;
  /** Value of the dimension that the metric is split by. */
  readonly of?: string;
}

/** What one commit changed. Pure: the same two states always say the same, so a commit that was made once is counted once. */
export function metricsOf(before: Run, after: Run): Measure[] {
  const measures: Measure[] = [...countsOf(after)];
  const grown = (name: MetricName, value: number): void => {
    if (value > 0) measures.push({ name, value });
  };
  grown('PromptTokens', after.usage.promptTokens - before.usage.promptTokens);
  grown('CompletionTokens', after.usage.completionTokens - before.usage.completionTokens);
  grown('CostUsd', after.usage.costUsd - before.usage.costUsd);
  grown('ModelDuration', after.timings.modelMs - before.timings.modelMs);
  grown('QueueWait', after.timings.queueMs - before.timings.queueMs);
  if (isTerminal(after) && !isTerminal(before)) {
    measures.push({ name: 'Runs', value: 1, of: after.outcome ?? 'error' }, { name: 'RunDuration', value: after.activeMs });
  }
  return measures;
}

/** What a pass of sweep came to. */
export const sweepMetrics = ({ failed, stuck, behindMs }: SweepReport): Measure[] => [
  { name: 'SweepFailures', value: failed },
  { name: 'SweepStuck', value: stuck },
  { name: 'SweepBehind', value: behindMs },
];

/** Requests that a change of a suspension has ended, and how long each waited. */
export function approvalMetricsOf(before: readonly string[], after: Suspension): Measure[] {
  const ended = before.flatMap((callId) => after.approvals[callId] ?? []).filter(({ status }) => status !== 'pending');
  return ended.flatMap((approval): Measure[] => [
    { name: 'Approvals', value: 1, of: approval.status satisfies ApprovalStatus },
    { name: 'ApprovalDecisionTime', value: waitedMs(approval) },
  ]);
}

const waitedMs = ({ decision, requestedAt, expiresAt }: Approval): number => Math.max(0, (decision?.at ?? expiresAt) - requestedAt);

/** The events of a commit ride in the run. */
function countsOf(run: Run): Measure[] {
  const counts = new Map<string, Measure>();
  const count = (name: MetricName, of?: string): void => {
    const key = `${name}/${of ?? ''}`;
    counts.set(key, { name, value: (counts.get(key)?.value ?? 0) + 1, ...(of === undefined ? {} : { of }) });
  };
  for (const { type, data } of run.events) {
    switch (type) {
      case 'llm.call.completed':
        count('Iterations');
        break;
      case 'llm.call.failed':
        count('ModelFailures');
        break;
      case 'tool.call.completed':
        count('ToolCalls', text(data['code']) ?? 'OK');
        break;
      case 'tool.call.failed':
        count('ToolCalls', text(field(data['error'], 'code')) ?? 'UNHANDLED');
        break;
      case 'guard.decision':
        count('GuardDecisions', text(data['decision']) ?? 'UNKNOWN');
        break;
      case 'approval.requested':
        count('Approvals', 'pending');
        break;
      default:
    }
  }
  return [...counts.values()];
}

const text = (value: Json | undefined): string | undefined => (typeof value === 'string' ? value : undefined);

function field(value: Json | undefined, name: string): Json | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value[name] : undefined;
}
