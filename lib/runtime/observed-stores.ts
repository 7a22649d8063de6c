import type { Suspension } from '../core/guard/approvals/suspension.ts';
import type { RunEvent } from '../core/loop/event.ts';
import { approvalMetricsOf, type Measure, metricsOf } from '../core/loop/metrics.ts';
import type { Run } from '../core/loop/run.ts';
import type { GuardStore } from '../core/ports/guard-store.ts';
import type { RunStore } from '../core/ports/run-store.ts';

/** Who is told of what was committed. */
export interface Observer {
  /** A run was read to be worked on. */
  began(run: Run): void;
  measured(measures: readonly Measure[]): void;
  happened(run: Run, events: readonly RunEvent[]): void;
  /** Requests to people that have found their end, and no change finds it twice. */
  resolved(suspension: Suspension, callIds: readonly string[]): void;
}

/**
 * A run store that tells of every commit that was made, once and only when it was made: whoever loses a commit has
 * changed nothing and says nothing. The state before is the one that the step was loaded with.
 */
export function observedRuns(runs: RunStore, observer: Observer): RunStore {
  const loaded = new Map<string, Run>();
  const keyOf = ({ tenant, runId }: { tenant: string; runId: string }): string => `${tenant}/${runId}`;
  return {
    ...runs,
    async loadStep(key, suspensionId) {
      const inputs = await runs.loadStep(key, suspensionId);
      if (inputs.run) {
        loaded.set(keyOf(key), inputs.run);
        observer.began(inputs.run);
      }
      return inputs;
    },
    async commit(run, condition) {
      const outcome = await runs.commit(run, condition);
      const before = loaded.get(keyOf(run));
      if (outcome.committed && before?.step === condition.step) {
        loaded.delete(keyOf(run));
        observer.measured(metricsOf(before, run));
        observer.happened(run, run.events);
      }
      return outcome;
    },
  };
}

/** A guard store that tells of every request to a person that has found its end. */
export function observedGuard(guard: GuardStore, observer: Pick<Observer, 'measured' | 'resolved'>): GuardStore {
  return {
    ...guard,
    async changeSuspension(suspensionId, change) {
      const outcome = await guard.changeSuspension(suspensionId, change);
      if (outcome.applied && outcome.suspension) {
        observer.measured(approvalMetricsOf(callsOf(change), outcome.suspension));
        observer.resolved(outcome.suspension, callsOf(change));
      }
      return outcome;
    },
  };
}

function callsOf(change: Parameters<GuardStore['changeSuspension']>[1]): readonly string[] {
  switch (change.kind) {
    case 'decide':
      return change.decisions.map(({ callId }) => callId);
    case 'expire':
    case 'cancel':
      return change.callIds;
    default:
      return [];
  }
}
