import { HandrailError } from '../errors.ts';
import { sweepSuspension, type Untold } from '../guard/approvals/expire.ts';
import { notify } from '../guard/approvals/notify.ts';
import type { RunKey } from '../ids.ts';
import type { DueItem } from '../ports/run-store.ts';
import { wakeCancelled } from './cancel.ts';
import type { LoopDeps } from './deps.ts';
import { currentExecution, keyOf } from './keys.ts';
import type { Run } from './run.ts';
import { isTerminal } from './run-status.ts';
import { settleRun } from './settle.ts';
import { startStored } from './start.ts';

const PAGE = 50;
/** A run that could not take its session is withdrawn this long after it was asked for, ms. */
const START_LIMIT_MS = 2 * 60_000;
/** ms until a run that is seen to be alive is looked at again. */
const RECHECK_MS = 5 * 60_000;

export interface SweepReport {
  readonly runs: number;
  readonly suspensions: number;
  readonly failed: number;
}

/**
 * Settles everything that nobody else will (design sections 4, 5.3, 9): undelivered decisions, approvals that expire,
 * runs that never started, runs whose execution is gone. One bad item never stops the others.
 */
export async function sweep(deps: LoopDeps): Promise<SweepReport> {
  return sweepItems(deps, await deps.runs.due(deps.clock.now(), PAGE));
}

/**
 * After the embedded engine was stopped: starts the execution of every run that has not ended again, at its committed
 * step (design section 10, "Restart").
 */
export async function recoverAll(deps: LoopDeps): Promise<SweepReport> {
  return sweepItems(deps, await deps.runs.due(Number.MAX_SAFE_INTEGER, 1000));
}

async function sweepItems(deps: LoopDeps, items: readonly DueItem[]): Promise<SweepReport> {
  const report = { runs: 0, suspensions: 0, failed: 0 };
  const untold: Untold[] = [];
  for (const item of items) {
    try {
      if (item.kind === 'run') await sweepRun(deps, item.key);
      else untold.push(...[await sweepSuspension(deps, item.suspensionId)].filter((found) => found !== undefined));
      report[item.kind === 'run' ? 'runs' : 'suspensions'] += 1;
    } catch (error) {
      report.failed += 1;
      deps.logger.error('sweep could not settle an item', error, { kind: item.kind });
    }
  }
  // Last, and no more after one that failed: a channel that does not answer must not keep anything else waiting.
  for (const { suspension, run } of untold) if (!(await notify(deps, suspension, run))) break;
  return report;
}

async function sweepRun(deps: LoopDeps, key: RunKey): Promise<void> {
  const run = await deps.runs.getRun(key);
  if (!run || isTerminal(run)) return;
  if (run.status === 'starting') return sweepStarting(deps, run);
  const name = currentExecution(run);
  switch (await deps.engine.status(name)) {
    case 'running':
      if (run.cancelRequestedAt !== undefined) await wakeCancelled(deps, run, 'sweep');
      return deps.runs.postponeRun(keyOf(run), run.step, deps.clock.now() + RECHECK_MS);
    case 'closed':
      await settleRun(deps, keyOf(run), name, 'the execution ended without ending the run');
      return;
    case 'absent':
      // Never started (the first one, or one that was to continue), or the embedded engine was stopped.
      await deps.engine.start(name, { ctx: { ...keyOf(run), step: run.step }, ...(run.step > 0 ? { recover: true } : {}) });
      return deps.runs.postponeRun(keyOf(run), run.step, deps.clock.now() + RECHECK_MS);
  }
}

async function sweepStarting(deps: LoopDeps, run: Run): Promise<void> {
  try {
    await startStored(deps, run);
  } catch (error) {
    if (!(error instanceof HandrailError && error.code === 'SESSION_BUSY')) throw error;
    if (deps.clock.now() - run.createdAt > START_LIMIT_MS) await deps.runs.deleteStarting(keyOf(run));
  }
}
