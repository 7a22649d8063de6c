import type { Run } from '../../loop/run.ts';
import { isTerminal } from '../../loop/run-status.ts';
import type { ApprovalDeps } from './deps.ts';
import { writeResolved } from './resolved.ts';
import { pendingCalls, type Suspension } from './suspension.ts';

/**
 * `pending`: somebody has still to decide. `no_token`: Suspend has not run yet and will deliver itself. `unconfirmed`: a
 * token is gone (answered by another, timed out, or of a dead attempt) and the run has not moved on yet. `failed`: the
 * engine or a table did. Sweep looks again at all but `pending` and `delivered`.
 */
export type Delivery = 'pending' | 'no_token' | 'unconfirmed' | 'delivered' | 'failed';

/**
 * Wakes the run when everything is decided (design 5.3). Whoever changed the suspension calls this with the item as the
 * change returned it: of two who change it, the later sees both changes, so one of them sends. Sending twice is harmless,
 * since `reason` believes the item and not the message. Never throws: a decision once made does not depend on this.
 */
export async function deliver(deps: ApprovalDeps, suspension: Suspension): Promise<Delivery> {
  if (pendingCalls(suspension).length > 0) return 'pending';
  if (suspension.deliveredAt !== undefined) return 'delivered';
  try {
    return await wake(deps, suspension);
  } catch (error) {
    deps.logger.error('a decision could not be delivered; sweep will try again', error, { suspensionId: suspension.suspensionId });
    return 'failed';
  }
}

async function wake(deps: ApprovalDeps, suspension: Suspension): Promise<Delivery> {
  const { suspensionId, tenant, runId } = suspension;
  // Before the run goes on, so that a reader who follows the log by step misses none.
  await writeResolved(deps, suspension);
  const unanswered: Suspension['tokens'] = [];
  let failed: { error: unknown } | undefined;
  const tokens = new Map(suspension.tokens.map((item) => [item.token, item]));
  for (const [token, entry] of tokens) {
    try {
      if ((await deps.engine.sendTaskSuccess(token, { suspensionId })) === 'gone') unanswered.push(entry);
    } catch (error) {
      failed = { error };
    }
  }
  if (failed) throw failed.error;
  if (tokens.size === 0 || unanswered.length > 0) {
    const moved = hasMovedOn(await deps.runs.getRun({ tenant, runId }), suspensionId);
    if (!moved && tokens.size === 0) return 'no_token';
    if (!moved && !(await allClosed(deps, unanswered))) return 'unconfirmed';
  }
  await deps.guard.changeSuspension(suspensionId, { kind: 'delivered', now: deps.clock.now() });
  return 'delivered';
}

/** The run does not wait for this suspension any more. */
export function hasMovedOn(run: Run | undefined, suspensionId: string): boolean {
  return !run || isTerminal(run) || run.plan?.next !== 'suspend' || run.plan.suspensionId !== suspensionId;
}

/** A token is gone because its task timed out or was tried again: then another will come, unless the execution is over. */
async function allClosed(deps: ApprovalDeps, tokens: Suspension['tokens']): Promise<boolean> {
  for (const execution of new Set(tokens.map((token) => token.execution))) {
    if ((await deps.engine.status(execution)) !== 'closed') return false;
  }
  return true;
}
