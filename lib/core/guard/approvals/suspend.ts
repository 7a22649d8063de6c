import { HandrailError } from '../../errors.ts';
import { executionName } from '../../ids.ts';
import type { SuspendEvent } from '../../loop/plan.ts';
import type { Run } from '../../loop/run.ts';
import { deliver } from './deliver.ts';
import type { ApprovalDeps } from './deps.ts';
import { cancelPending, expireDue } from './expire.ts';
import { notify } from './notify.ts';

/** `stale`: the run does not wait here; the machine was sent on to `reason`, which knows what to do. */
export type Suspended = { state: 'waiting' | 'woken'; suspensionId: string } | { state: 'stale' };

/**
 * The logic of the suspend λ (design 5.3): hands in the task's token. Everything may already be decided, so it expires
 * what is due, cancels if the run is to end, sends the token itself if nothing is pending, else the notices. Safe to run again: a retry
 * hands in another token.
 */
export async function suspend(deps: ApprovalDeps, event: SuspendEvent): Promise<Suspended> {
  const { ctx, token, execution } = event;
  const run = await deps.runs.getRun({ tenant: ctx.tenant, runId: ctx.runId });
  const suspensionId = waitsFor(run, event);
  if (!run || suspensionId === undefined) {
    // A token nobody knows would hold its execution for days.
    await deps.engine.sendTaskSuccess(token, {});
    return { state: 'stale' };
  }
  const added = await deps.guard.changeSuspension(suspensionId, { kind: 'token', token, execution, now: deps.clock.now() });
  if (!added.suspension)
    throw new HandrailError('INTERNAL', `run ${run.runId} waits for the suspension ${suspensionId}, which is not there`);
  let suspension = await expireDue(deps, added.suspension);
  if (run.cancelRequestedAt !== undefined) suspension = await cancelPending(deps, suspension, 'cancel');
  // This token is new and unanswered, whatever became of others before it.
  const { deliveredAt: _before, ...unanswered } = suspension;
  const delivery = await deliver(deps, unanswered);
  // Sweep tries again, but not where an earlier token had been answered: then the task is tried again instead.
  if (delivery === 'failed' && suspension.deliveredAt !== undefined)
    throw new HandrailError('SERVICE_UNAVAILABLE', `run ${run.runId} could not be woken at step ${run.step}`);
  if (delivery === 'pending') await notify(deps, suspension, run);
  return { state: delivery === 'pending' || delivery === 'failed' ? 'waiting' : 'woken', suspensionId };
}

/** The suspension that this very step of this very execution waits for. */
function waitsFor(run: Run | undefined, { ctx, execution }: SuspendEvent): string | undefined {
  if (run?.plan?.next !== 'suspend' || run.step !== ctx.step || execution !== executionName(run.runId, run.execution)) return undefined;
  return run.plan.suspensionId;
}
