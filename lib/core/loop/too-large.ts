import { HandrailError } from '../errors.ts';
import type { CommitOutcome } from '../ports/run-store.ts';
import { commitStep } from './commit.ts';
import { finishRun } from './finish.ts';
import { returnPermits, undoPermits } from './permits.ts';
import { beginStep, type Step } from './step.ts';

export interface Committed {
  readonly outcome: CommitOutcome;
  /** The step that was committed, or not: the one given, or the one that ended the run instead. */
  readonly step: Step;
}

/**
 * Commits a step. When the run has outgrown its item (design 3.2, RESOURCE_EXHAUSTED), it ends with that error and without
 * what made it large: left alone it could neither go on nor ever be ended, and would keep its session busy.
 */
export async function commitOrEnd(step: Step): Promise<Committed> {
  try {
    return { outcome: await commitStep(step), step };
  } catch (error) {
    if (!(error instanceof HandrailError && error.code === 'RESOURCE_EXHAUSTED')) throw error;
    await undoPermits(step);
    const last = beginStep(step.deps, step.inputs, step.before);
    await finishRun(last, { outcome: 'error', error: { code: error.code, message: error.message }, inFlight: 'unknown' });
    last.run.guard = {};
    last.run.stateChanges = {};
    delete last.run.storedChanges;
    for (const frame of last.run.frames) {
      if (frame.kind === 'tree') frame.blackboard = {};
      else frame.repeats = [];
    }
    await returnPermits(last);
    return { outcome: await commitStep(last), step: last };
  }
}
