import { HandrailError } from '../errors.ts';
import { deliver } from '../guard/approvals/deliver.ts';
import { cancelPending } from '../guard/approvals/expire.ts';
import type { RunKey } from '../ids.ts';
import type { Clock } from '../ports/clock.ts';
import type { Engine } from '../ports/engine.ts';
import type { GuardStore } from '../ports/guard-store.ts';
import type { Logger } from '../ports/logger.ts';
import type { RunStore } from '../ports/run-store.ts';
import { eventKey } from './event.ts';
import { keyOf } from './keys.ts';
import type { Run } from './run.ts';
import { isTerminal } from './run-status.ts';

export interface CancelDeps {
  readonly runs: RunStore;
  readonly guard: GuardStore;
  readonly engine: Engine;
  readonly clock: Clock;
  readonly logger: Logger;
  /** On a laptop: aborts the handlers of a run that are at work. In AWS they run to their timeout. */
  abortRun?(runId: string): void;
}

/**
 * Asks a run to end (design section 4, "Cancelling"). Only the flag is set here; the run's own next step ends it, and
 * sweep does if its execution is gone. Asking again does no harm. Errors: NOT_FOUND.
 */
export async function cancelRun(deps: CancelDeps, key: RunKey, by: string): Promise<Run> {
  const stored = await deps.runs.getRun(key);
  if (!stored) throw new HandrailError('NOT_FOUND', `there is no run ${key.runId}`);
  if (isTerminal(stored)) return stored;
  if (stored.status === 'starting') return cancelStarting(deps, stored, by);
  const run = await deps.runs.requestCancel(key, deps.clock.now(), by);
  if (!run || isTerminal(run)) return run ?? stored;
  if (stored.cancelRequestedAt === undefined || !(await isTold(deps, run))) await tell(deps, run, by);
  await wakeCancelled(deps, run, by);
  deps.abortRun?.(run.runId);
  return run;
}

/** Who asked before may have died between the flag and the event. No step is committed in between, so it stands at this one. */
async function isTold({ runs }: CancelDeps, run: Run): Promise<boolean> {
  return (await runs.readEvents(keyOf(run), run.step)).some(({ type }) => type === 'run.cancel_requested');
}

/** Of two who ask at once both may tell, under one key; the run says who came first. */
async function tell({ runs, clock }: CancelDeps, run: Run, by: string): Promise<void> {
  const { step, cancelRequestedAt: at = clock.now(), cancelRequestedBy = by } = run;
  await runs.write(
    keyOf(run),
    run.sessionId,
    [],
    [{ type: 'run.cancel_requested', at, data: { by: cancelRequestedBy }, step, key: eventKey(step, 'settle', 0) }],
  );
}

/** Nobody need decide any more: closes what is pending and lets the run go on to its end. */
export async function wakeCancelled(deps: Omit<CancelDeps, 'abortRun'>, run: Run, by: string): Promise<void> {
  if (run.plan?.next !== 'suspend') return;
  const suspension = await deps.guard.getSuspension(run.plan.suspensionId);
  if (!suspension) return;
  await deliver(deps, await cancelPending(deps, suspension, by));
}

/** A run that has not begun is withdrawn: nothing of it ran. */
async function cancelStarting(deps: CancelDeps, run: Run, by: string): Promise<Run> {
  await deps.runs.deleteStarting(keyOf(run));
  const now = await deps.runs.getRun(keyOf(run));
  return now ? cancelRun(deps, keyOf(run), by) : { ...run, status: 'cancelled', outcome: 'cancelled', endedAt: deps.clock.now() };
}
