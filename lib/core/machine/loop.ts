import { HandrailError } from '../errors.ts';
import type { JsonObject } from '../json.ts';
import { RETRY, STAGE_CONCURRENCY, SUSPEND_TIMEOUT_SECONDS } from '../limits.ts';

/** The states of the loop, by the names they have on every engine. Overrides, tests and dashboards use these. */
export const STATES = {
  reason: 'Reason',
  route: 'Route',
  act: 'Act',
  invoke: 'Invoke',
  exhausted: 'Exhausted',
  crashed: 'Crashed',
  suspend: 'Suspend',
  wait: 'Wait',
  continue: 'Continue',
  finish: 'Finish',
} as const;

/** How often a state whose Lambda is idempotent is tried again, whatever it failed with (design 3.1). */
export const IDEMPOTENT_RETRIES = 3;
/** How often an invocation that Lambda throttled, so that it never ran, is tried again. */
export const THROTTLE_RETRIES = 5;
/** `maxRetries` a tool may declare besides 0. Each is an error name `RETRY_<n>` of its own (design 6.2). */
export const RETRY_COUNTS = [1, 2, 3, 5] as const;
export const retryErrorName = (maxRetries: (typeof RETRY_COUNTS)[number]): string => `RETRY_${maxRetries}`;

/** Both ways in which Step Functions and its emulators spell a name that is taken. */
export const ALREADY_EXISTS = ['StepFunctions.ExecutionAlreadyExistsException', 'StepFunctions.ExecutionAlreadyExists'] as const;

/** Added to a function's timeout: the Task outlives the function, so a timed-out attempt is dead before a retry. */
const TASK_MARGIN_SECONDS = 10;
const CONTINUE_SECONDS = 60;
/** More ms than a 32-bit timer holds: the embedded engine would fire at once. */
const MAX_TIMEOUT_SECONDS = 2_147_483;

export interface LoopOptions {
  /** Name or ARN of the reason λ. */
  readonly reasonFunction: string;
  /** Name or ARN of the suspend λ. */
  readonly suspendFunction: string;
  /** The Lambdas' own timeouts, seconds. `tool` = the longest of all tool Lambdas. */
  readonly functionTimeouts: { readonly reason: number; readonly tool: number };
  /** Backstop of a suspension, seconds. @default 7 days + 1 hour, longer than any approval lives */
  readonly suspendSeconds?: number;
  /** Partition of the integration ARNs. @default aws */
  readonly partition?: string;
}

/**
 * The state machine of every run, as plain data (design 3.1). The same on AWS, LocalStack, MiniStack and the embedded
 * engine, hence JSONPath and plain fields only. HandrailError BAD_REQUEST for a timeout that no engine can keep.
 */
export function loopDefinition(options: LoopOptions): JsonObject {
  const lambda = `arn:${options.partition ?? 'aws'}:states:::lambda:invoke`;
  return {
    Comment: 'Handrail: Reason decides, Act runs what the guard let through, Suspend waits for people.',
    StartAt: STATES.reason,
    States: {
      [STATES.reason]: reason(options, lambda),
      [STATES.route]: route(),
      [STATES.act]: act(options, lambda),
      [STATES.suspend]: suspend(options, lambda),
      [STATES.wait]: { Type: 'Wait', SecondsPath: '$.seconds', Next: STATES.reason },
      [STATES.continue]: continueRun(options),
      [STATES.finish]: { Type: 'Succeed', OutputPath: '$.ctx' },
    },
  };
}

function reason(options: LoopOptions, lambda: string): JsonObject {
  return {
    Type: 'Task',
    Resource: lambda,
    Parameters: { FunctionName: options.reasonFunction, Payload: { 'data.$': '$', 'execution.$': '$$.Execution.Name' } },
    // The answer alone goes on: OutputPath cannot name a field of the response and drop the rest in one step.
    ResultSelector: { 's.$': '$.Payload' },
    OutputPath: '$.s',
    TimeoutSeconds: taskSeconds('reason', options.functionTimeouts.reason + TASK_MARGIN_SECONDS),
    Retry: [idempotentRetrier()],
    Next: STATES.route,
  };
}

function route(): JsonObject {
  const to = (next: string, state: string): JsonObject => ({ Variable: '$.next', StringEquals: next, Next: state });
  return {
    Type: 'Choice',
    // No default: an answer that is none of these is a fault of ours, and the failed execution shows it.
    Choices: [
      to('act', STATES.act),
      to('finish', STATES.finish),
      to('suspend', STATES.suspend),
      to('wait', STATES.wait),
      to('reason', STATES.reason),
      to('continue', STATES.continue),
    ],
  };
}

function act(options: LoopOptions, lambda: string): JsonObject {
  return {
    Type: 'Map',
    ItemsPath: '$.calls',
    // Results take the arguments' place: both together would not fit the state data.
    ResultPath: '$.calls',
    MaxConcurrency: STAGE_CONCURRENCY,
    ItemProcessor: {
      ProcessorConfig: { Mode: 'INLINE' },
      StartAt: STATES.invoke,
      States: {
        [STATES.invoke]: invoke(options, lambda),
        [STATES.exhausted]: { Type: 'Pass', Parameters: { 'callId.$': '$.callId', 'error.$': '$.error' }, End: true },
        // Without the Cause: ten of 32 KB each would burst the state data, which nothing can catch.
        [STATES.crashed]: { Type: 'Pass', Parameters: { 'callId.$': '$.callId', error: { 'Error.$': '$.error.Error' } }, End: true },
      },
    },
    Next: STATES.reason,
  };
}

function invoke(options: LoopOptions, lambda: string): JsonObject {
  return {
    Type: 'Task',
    Resource: lambda,
    Parameters: { 'FunctionName.$': '$.functionName', 'Payload.$': '$' },
    ResultSelector: { 'r.$': '$.Payload' },
    OutputPath: '$.r',
    TimeoutSeconds: taskSeconds('tool', options.functionTimeouts.tool + TASK_MARGIN_SECONDS),
    // Only what never ran, and what the handler itself marked as safe to repeat (design 3.4).
    Retry: [
      retrier(['Lambda.TooManyRequestsException'], THROTTLE_RETRIES),
      ...RETRY_COUNTS.map((count) => retrier([retryErrorName(count)], count)),
    ],
    Catch: [
      { ErrorEquals: RETRY_COUNTS.map(retryErrorName), ResultPath: '$.error', Next: STATES.exhausted },
      { ErrorEquals: ['States.ALL'], ResultPath: '$.error', Next: STATES.crashed },
    ],
    End: true,
  };
}

function suspend(options: LoopOptions, lambda: string): JsonObject {
  return {
    Type: 'Task',
    Resource: `${lambda}.waitForTaskToken`,
    Parameters: {
      FunctionName: options.suspendFunction,
      Payload: { 'ctx.$': '$.ctx', 'token.$': '$$.Task.Token', 'execution.$': '$$.Execution.Name' },
    },
    ResultPath: '$.woke',
    TimeoutSeconds: taskSeconds('suspend', options.suspendSeconds ?? SUSPEND_TIMEOUT_SECONDS),
    // The backstop wakes the run at once: waiting another week for the same people helps nobody.
    Retry: [{ ErrorEquals: ['States.Timeout'], MaxAttempts: 0 }, idempotentRetrier()],
    // Nothing else is caught: with a suspend λ that always fails, Reason would only plan the same suspension again.
    Catch: [{ ErrorEquals: ['States.Timeout'], ResultPath: '$.woke', Next: STATES.reason }],
    Next: STATES.reason,
  };
}

function continueRun(options: LoopOptions): JsonObject {
  return {
    Type: 'Task',
    Resource: `arn:${options.partition ?? 'aws'}:states:::states:startExecution`,
    Parameters: { 'StateMachineArn.$': '$$.StateMachine.Id', 'Name.$': '$.name', Input: { 'ctx.$': '$.ctx' } },
    ResultPath: null,
    TimeoutSeconds: CONTINUE_SECONDS,
    Retry: [{ ErrorEquals: [...ALREADY_EXISTS], MaxAttempts: 0 }, idempotentRetrier()],
    Catch: [{ ErrorEquals: [...ALREADY_EXISTS], ResultPath: null, Next: STATES.finish }],
    Next: STATES.finish,
  };
}

function retrier(errors: string[], attempts: number): JsonObject {
  return {
    ErrorEquals: errors,
    IntervalSeconds: RETRY.intervalSeconds,
    BackoffRate: RETRY.backoffRate,
    MaxDelaySeconds: RETRY.maxDelaySeconds,
    JitterStrategy: 'FULL',
    MaxAttempts: attempts,
  };
}

const idempotentRetrier = (): JsonObject => retrier(['States.ALL'], IDEMPOTENT_RETRIES);

function taskSeconds(field: string, seconds: number): number {
  if (Number.isInteger(seconds) && seconds > 0 && seconds <= MAX_TIMEOUT_SECONDS) return seconds;
  throw new HandrailError('BAD_REQUEST', `the ${field} timeout must be 1 to ${MAX_TIMEOUT_SECONDS} whole seconds, not ${seconds}`, {
    field,
  });
}
