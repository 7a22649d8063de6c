import * as z from 'zod';
import { failureTransitions, planTransitions } from '../cost/transitions.ts';
import type { CallFailure } from '../hands/call.ts';
import type { Run } from './run.ts';

/** What a run has made AWS do, as far as its commits know: the basis of its cost. */
export const workSchema = z.object({
  /** Of Step Functions, exactly as billed save for retries of a Lambda that then succeeded, which nobody tells us of. */
  transitions: z.int(),
  /** Times it stopped for people. */
  suspensions: z.int(),
  /** Dispatched calls and the ms their tools took, by category. */
  calls: z.record(z.string(), z.object({ count: z.int(), ms: z.number() })),
  /** The step from which it was counted, where an earlier version began the run. */
  since: z.int().optional(),
});
export type Work = z.infer<typeof workSchema>;

export const noWork = (): Work => ({ transitions: 0, suspensions: 0, calls: {} });

/** Counts what the plan that is about to be committed takes. */
export function countPlan(run: Run): void {
  const { plan } = run;
  if (!plan) return;
  const work = workOf(run);
  work.transitions += planTransitions(plan);
  if (plan.next === 'suspend') work.suspensions += 1;
  if (plan.next !== 'act') return;
  const calls = run.frames.at(-1)?.batch?.calls ?? [];
  for (const { callId, category } of calls) if (plan.calls.includes(callId)) callsOf(work, category).count += 1;
}

/** Counts what a dispatched call came to: the time of its tool, or what catching its failure took. */
export function countCall(run: Run, category: string, ms: number, failure?: CallFailure['error']): void {
  const work = workOf(run);
  callsOf(work, category).ms += ms;
  if (failure) work.transitions += failureTransitions(failure);
}

function workOf(run: Run): Work {
  run.work ??= { ...noWork(), since: run.step };
  return run.work;
}

function callsOf({ calls }: Work, category: string): { count: number; ms: number } {
  const found = Object.hasOwn(calls, category) ? calls[category] : undefined;
  if (found) return found;
  const fresh = { count: 0, ms: 0 };
  calls[category] = fresh;
  return fresh;
}
