import { type RunKey, suspensionIdOf } from '../ids.ts';
import { wakeCancelled } from './cancel.ts';
import type { LoopDeps } from './deps.ts';
import { finishRun } from './finish.ts';
import { currentExecution, keyOf } from './keys.ts';
import { returnPermits } from './permits.ts';
import type { Run } from './run.ts';
import { isTerminal } from './run-status.ts';
import { beginStep } from './step.ts';
import { commitOrEnd } from './too-large.ts';

const COMMIT_ATTEMPTS = 5;

/**
 * Ends a run whose execution is closed without having ended it: failed, timed out, aborted (design section 4). What was
 * in flight has an unknown outcome. Acts only on the run's current execution. The run as it then stands.
 */
export async function settleRun(deps: LoopDeps, key: RunKey, execution: string, why: string): Promise<Run | undefined> {
  for (let attempt = 0; attempt < COMMIT_ATTEMPTS; attempt++) {
    const found = await deps.runs.getRun(key);
    if (!found || isTerminal(found) || found.status === 'starting' || currentExecution(found) !== execution) return found;
    const inputs = await deps.runs.loadStep(keyOf(key), suspensionIdOf(found.runId, found.step));
    if (!inputs.run || inputs.run.step !== found.step) continue;
    const step = beginStep(deps, inputs, inputs.run);
    const cancelled = inputs.run.cancelRequestedAt !== undefined;
    await finishRun(
      step,
      cancelled ? { outcome: 'cancelled' } : { outcome: 'error', error: { code: 'INTERNAL', message: why }, inFlight: 'unknown' },
    );
    await returnPermits(step);
    const { outcome, step: last } = await commitOrEnd(step);
    if (!outcome.committed) continue;
    await wakeCancelled(deps, inputs.run, 'settle');
    return last.run;
  }
  return deps.runs.getRun(key);
}
