import { STATE_DATA_BYTES } from '../../core/limits.ts';

/** SendTaskFailure and the history cut a cause here (API reference, characters). */
const CAUSE_CHARACTERS = 32_768;

/**
 * How an attempt of a Task fails: `name` is the Error that retriers and catchers match, `message` the Cause they pass
 * on. The library reads the two flags.
 */
export class TaskFailure extends Error {
  readonly isRetryable: boolean;
  readonly isCatchable: boolean;

  constructor(name: string, cause: string, matchable = true) {
    super(cause);
    this.name = name;
    this.isRetryable = matchable;
    this.isCatchable = matchable;
  }
}

/** What Lambda makes of an error that escapes a handler, in the form Step Functions puts into the Cause. */
export function lambdaFailure(thrown: unknown): TaskFailure {
  const isError = thrown instanceof Error;
  const errorType = isError ? thrown.name || 'Error' : typeof thrown;
  const errorMessage = isError ? thrown.message : String(thrown);
  const trace = isError && thrown.stack ? thrown.stack.split('\n') : [];
  return new TaskFailure(errorType, JSON.stringify({ errorType, errorMessage, trace }).slice(0, CAUSE_CHARACTERS));
}

export const timeoutFailure = (seconds: number): TaskFailure =>
  new TaskFailure('States.Timeout', `the task did not end within ${seconds} s`);

/** Neither retried nor caught: it ends the execution, as on AWS (Service quotas). */
export function dataLimitFailure(state: string, what: string, bytes: number): TaskFailure {
  const cause = `The state/task '${state}' has ${what} of ${bytes} bytes, over the maximum of ${STATE_DATA_BYTES}.`;
  return new TaskFailure('States.DataLimitExceeded', cause, false);
}
