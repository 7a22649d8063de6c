import { unreachable } from '../errors.ts';
import { HISTORY_EVENTS } from '../limits.ts';
import type { Plan } from '../loop/plan.ts';
import { IDEMPOTENT_RETRIES, THROTTLE_RETRIES } from './loop.ts';

/**
 * How many events a run may write into the history of its execution, at worst (design 3.5). Step Functions ends an
 * execution at 25,000, uncatchably, so `reason` counts ahead and continues in a new one. Event types of
 * GetExecutionHistory, per state:
 *
 * - any state: `…StateEntered`, `…StateExited` (a caught failure is exited too)
 * - each attempt of a Task: `TaskScheduled`, `TaskStarted`, then `TaskSucceeded`, `TaskFailed` or `TaskTimedOut`; with
 *   a task token also `TaskSubmitted`. A retry has no event of its own
 * - Map: `MapStateStarted`, `MapStateSucceeded`; each iteration `MapIterationStarted`, `MapIterationSucceeded`
 * - the execution: `ExecutionStarted` and one for its end
 */
const STATE = 2;
const ATTEMPT = 3;
const CALLBACK_ATTEMPT = 4;
const MAP = STATE + 2;
const ITERATION = 2;
const EXECUTION_END = 1;

/** Hard limit of Step Functions for a Standard execution (Service quotas). */
export const HISTORY_HARD_LIMIT = 25_000;

const idempotentTask = STATE + ATTEMPT * (1 + IDEMPOTENT_RETRIES);

/** Events before the first answer of `reason`: what a new execution's count starts from. */
export const START_EVENTS = 1 + idempotentTask;
/** Events from an answer `continue` (or `finish`, which takes fewer) to the end: kept free until then. */
export const END_EVENTS = STATE + idempotentTask + STATE + EXECUTION_END;

/**
 * Events from an answer of `reason` to its next one, at worst. `retries` = the highest `maxRetries` among the calls of
 * an `act`; 0 is right for calls that are never retried.
 */
export function worstCaseEvents(next: Plan['next'], callCount = 0, retries = 0): number {
  switch (next) {
    case 'reason':
      return STATE + idempotentTask;
    case 'act':
      return STATE + MAP + callCount * callEvents(retries) + idempotentTask;
    case 'suspend':
      return STATE + STATE + CALLBACK_ATTEMPT * (1 + IDEMPOTENT_RETRIES) + idempotentTask;
    case 'wait':
      return STATE + STATE + idempotentTask;
    case 'continue':
      return END_EVENTS;
    case 'finish':
      return STATE + STATE + EXECUTION_END;
    default:
      return unreachable(next);
  }
}

/** True when the plan might not leave room to end this execution in order: `continue` must come first. */
export function mustContinue(soFar: number, next: Plan['next'], callCount = 0, retries = 0, limit = HISTORY_EVENTS): boolean {
  if (next === 'continue' || next === 'finish') return false;
  return soFar + worstCaseEvents(next, callCount, retries) + END_EVENTS > limit;
}

/** One iteration of Act: Invoke with every retry it may have, then Exhausted or Crashed. */
function callEvents(retries: number): number {
  return ITERATION + STATE + ATTEMPT * (1 + THROTTLE_RETRIES + retries) + STATE;
}
