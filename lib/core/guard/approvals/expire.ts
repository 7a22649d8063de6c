import { HandrailError } from '../../errors.ts';
import type { Run } from '../../loop/run.ts';
import { isTerminal } from '../../loop/run-status.ts';
import { deliver } from './deliver.ts';
import { type ApprovalDeps, CHANGE_ATTEMPTS, REDELIVER_MS } from './deps.ts';
import { isUntold, NOTICE_RETRY_MS } from './notify.ts';
import { writeResolved } from './resolved.ts';
import { pendingCalls, type Suspension } from './suspension.ts';

/** Expires what is due; the suspension as it then stands. Wakes nobody: the caller delivers. */
export async function expireDue(deps: ApprovalDeps, suspension: Suspension): Promise<Suspension> {
  return close(deps, suspension, (current) => {
    const now = deps.clock.now();
    const callIds = pendingCalls(current).filter((callId) => (current.approvals[callId]?.expiresAt ?? 0) <= now);
    return { kind: 'expire', now, callIds };
  });
}

/** Decides everything that is pending as cancelled; the suspension as it then stands. Wakes nobody: the caller delivers. */
export async function cancelPending(deps: ApprovalDeps, suspension: Suspension, by: string): Promise<Suspension> {
  return close(deps, suspension, (current) => {
    const now = deps.clock.now();
    return { kind: 'cancel', now, callIds: pendingCalls(current), by };
  });
}

export interface Untold {
  readonly suspension: Suspension;
  readonly run: Run;
}

/**
 * What sweep does with a suspension that is due (design 5.3): expires, cancels what a run that has ended left open,
 * delivers, and says when to look again. The suspension and its run, if people have yet to be told of it.
 * Errors: SERVICE_UNAVAILABLE when it could not deliver.
 */
export async function sweepSuspension(deps: ApprovalDeps, suspensionId: string): Promise<Untold | undefined> {
  let suspension = await deps.guard.getSuspension(suspensionId);
  if (!suspension) return undefined;
  suspension = await expireDue(deps, suspension);
  let run: Run | undefined;
  if (pendingCalls(suspension).length > 0) {
    run = await deps.runs.getRun({ tenant: suspension.tenant, runId: suspension.runId });
    if (!run || isTerminal(run) || run.cancelRequestedAt !== undefined) suspension = await cancelPending(deps, suspension, 'sweep');
  }
  switch (await deliver(deps, suspension)) {
    case 'pending': {
      const untold = isUntold(deps, suspension);
      const expiry = Math.min(...pendingCalls(suspension).map((callId) => suspension.approvals[callId]?.expiresAt ?? 0));
      const dueAt = untold ? Math.min(expiry, deps.clock.now() + NOTICE_RETRY_MS) : expiry;
      await deps.guard.changeSuspension(suspensionId, { kind: 'due', dueAt });
      return untold && run ? { suspension, run } : undefined;
    }
    case 'failed':
      throw new HandrailError('SERVICE_UNAVAILABLE', `the decisions of ${suspensionId} could not be delivered`);
    case 'no_token':
    case 'unconfirmed':
      await deps.guard.changeSuspension(suspensionId, { kind: 'due', dueAt: deps.clock.now() + REDELIVER_MS });
      return undefined;
    case 'delivered':
      // Also takes it out of the index if it was delivered before.
      if (suspension.deliveredAt !== undefined)
        await deps.guard.changeSuspension(suspensionId, { kind: 'delivered', now: suspension.deliveredAt });
      return undefined;
  }
}

type Closing = Extract<Parameters<ApprovalDeps['guard']['changeSuspension']>[1], { kind: 'expire' | 'cancel' }>;

/** Tries until nothing is left to close: somebody may decide one of the calls in between, and that decision stands. */
async function close(deps: ApprovalDeps, suspension: Suspension, change: (current: Suspension) => Closing): Promise<Suspension> {
  let current = suspension;
  for (let attempt = 0; attempt < CHANGE_ATTEMPTS; attempt++) {
    const closing = change(current);
    if (closing.callIds.length === 0) return current;
    const outcome = await deps.guard.changeSuspension(current.suspensionId, closing);
    if (!outcome.suspension) throw new HandrailError('NOT_FOUND', `the suspension ${current.suspensionId} is gone`);
    current = outcome.suspension;
    if (outcome.applied) await reportResolved(deps, current);
  }
  throw new HandrailError('CONFLICT', `the suspension ${suspension.suspensionId} keeps changing; try again`);
}

/** Soon rather than surely: `deliver` writes them all before it wakes the run. */
export async function reportResolved(deps: ApprovalDeps, suspension: Suspension): Promise<void> {
  try {
    await writeResolved(deps, suspension);
  } catch (error) {
    deps.logger.error('decisions could not be written to the event log; they will be before the run goes on', error, {
      suspensionId: suspension.suspensionId,
    });
  }
}
