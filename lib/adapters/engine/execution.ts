import { setImmediate } from 'node:timers/promises';
import type { RunOptions, StateMachine } from 'aws-local-stepfunctions';
import { HandrailError } from '../../core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { STATE_DATA_BYTES } from '../../core/limits.ts';
import { HISTORY_HARD_LIMIT } from '../../core/machine/history.ts';
import { ALREADY_EXISTS, STATES } from '../../core/machine/loop.ts';
import { type EngineEvent, historyEventsOf } from './history-count.ts';
import { dataLimitFailure, lambdaFailure, TaskFailure, timeoutFailure } from './task-failure.ts';
import type { TaskTokens } from './task-tokens.ts';

/**
 * The Lambdas of the loop. Each gets JSON and answers JSON; what it throws becomes the Error and Cause of its task. The
 * signal aborts when the task times out, the run is cancelled or the engine stops.
 */
export interface EngineHandlers {
  reason(event: Json, signal: AbortSignal): Promise<unknown>;
  suspend(event: Json, signal: AbortSignal): Promise<unknown>;
  tool(functionName: string, call: Json, signal: AbortSignal): Promise<unknown>;
}

/** A step that AWS would bill: a state entered, or a task tried again. */
export interface Transition {
  readonly execution: string;
  readonly state: string;
  readonly kind: 'entered' | 'retried';
}

export interface ClosedExecution {
  readonly name: string;
  readonly status: 'SUCCEEDED' | 'FAILED' | 'ABORTED';
  readonly output?: Json;
  readonly error?: string;
  readonly cause?: string;
  /** Events the history would hold on AWS. */
  readonly historyEvents: number;
}

/** What an execution needs of its engine. */
export interface ExecutionHost {
  readonly machine: StateMachine;
  readonly machineArn: string;
  /** `TimeoutSeconds` of the Task states, by name. */
  readonly timeouts: ReadonlyMap<string, number>;
  readonly handlers: EngineHandlers;
  readonly tokens: TaskTokens;
  readonly pauses: Pick<NonNullable<RunOptions['overrides']>, 'waitTimeOverrides' | 'retryIntervalOverrides'>;
  readonly onTransition: ((transition: Transition) => void) | undefined;
  readonly start: (name: string, input: JsonObject) => Promise<'started' | 'exists'>;
  /** A handler is running until this settles. */
  track(handler: Promise<unknown>): void;
}

interface Attempt {
  readonly controller: AbortController;
  fail(failure: TaskFailure): void;
}

/** Bytes of the response around a Lambda's payload (status, request id, headers), which AWS counts with it. */
const LAMBDA_RESPONSE_BYTES = 1024;
const CALLBACK = 1;

/** One execution of the state machine in memory. */
export class Execution {
  readonly #name: string;
  readonly #host: ExecutionHost;
  readonly #attempts = new Set<Attempt>();
  /** State data already found small enough. It is never changed, only replaced. */
  readonly #measured = new WeakSet<object>();
  #historyEvents = 0;
  #ended: { status: 'FAILED' | 'ABORTED'; failure: TaskFailure } | undefined;
  #abort: () => void = () => undefined;

  constructor(name: string, host: ExecutionHost) {
    this.#name = name;
    this.#host = host;
  }

  /** Resolves when the execution is over and all its events were seen. Never rejects. */
  async run(input: JsonObject): Promise<ClosedExecution> {
    const { machine, pauses } = this.#host;
    const run = machine.run(input, { context: this.#context(), overrides: { ...pauses, taskResourceLocalHandlers: this.#tasks() } });
    this.#abort = run.abort;
    const events = this.#watch(run.eventLogs);
    const result = await run.result.then(
      (output: Json) => ({ status: 'SUCCEEDED' as const, output }),
      (error: unknown) => this.#failed(error),
    );
    await events;
    return { name: this.#name, ...result, historyEvents: this.#historyEvents };
  }

  /** Aborts the handlers in flight; the execution goes on with what they answer. */
  abortHandlers(reason: HandrailError): void {
    for (const attempt of this.#attempts) attempt.controller.abort(reason);
  }

  /** Ends the execution as StopExecution would. */
  stop(): void {
    this.#end('ABORTED', new TaskFailure('States.Aborted', 'the engine was stopped', false));
  }

  #context(): NonNullable<RunOptions['context']> {
    return {
      Execution: { Id: `${this.#host.machineArn.replace(':stateMachine:', ':execution:')}:${this.#name}`, Name: this.#name },
      StateMachine: { Id: this.#host.machineArn, Name: this.#host.machineArn.slice(this.#host.machineArn.lastIndexOf(':') + 1) },
      // Only so that the path is there: each attempt of Suspend has a token of its own.
      Task: { Token: 'unissued' },
    };
  }

  #tasks(): { [state: string]: (input: Json) => Promise<Json> } {
    const { handlers, tokens, start } = this.#host;
    return {
      [STATES.reason]: (input) =>
        this.#task(STATES.reason, input, (task, signal) => this.#lambda(STATES.reason, () => handlers.reason(payloadOf(task), signal))),
      [STATES.invoke]: (input) =>
        this.#task(STATES.invoke, input, (task, signal) =>
          this.#lambda(STATES.invoke, () => handlers.tool(textField(task, 'FunctionName'), payloadOf(task), signal)),
        ),
      [STATES.suspend]: (input) => {
        const issued = tokens.issue();
        const suspend = async (task: JsonObject, signal: AbortSignal): Promise<Json> => {
          const event = Object.assign({}, payloadOf(task), { token: issued.token });
          const notified = this.#lambda(STATES.suspend, () => handlers.suspend(event, signal));
          // The answer may come while the handler still runs; what it does afterwards is then of no concern.
          return Promise.race([issued.answer, notified.then(() => issued.answer)]);
        };
        return this.#task(STATES.suspend, input, suspend, CALLBACK).finally(issued.revoke);
      },
      [STATES.continue]: (input) =>
        this.#task(STATES.continue, input, async (task) => {
          const name = textField(task, 'Name');
          const started = await start(name, objectField(task, 'Input'));
          if (started === 'exists') throw new TaskFailure(ALREADY_EXISTS[0], `Execution Already Exists: '${name}'`);
          return { ExecutionArn: `${this.#host.machineArn.replace(':stateMachine:', ':execution:')}:${name}` };
        }),
    };
  }

  /** One attempt of a Task: measured, timed, counted, and cut off when the execution ends. */
  async #task(state: string, input: Json, work: (task: JsonObject, signal: AbortSignal) => Promise<Json>, extraEvents = 0): Promise<Json> {
    // Lets the watcher take every event so far: no handler runs after a limit was passed. Also lets others run.
    await setImmediate();
    if (this.#ended) throw this.#ended.failure;
    const text = JSON.stringify(input);
    this.#measure(state, 'a task input', text);
    this.#count(2 + extraEvents);
    const { promise, resolve, reject } = Promise.withResolvers<Json>();
    const controller = new AbortController();
    const attempt: Attempt = {
      controller,
      fail(failure) {
        reject(failure);
        controller.abort(new HandrailError(failure.name === 'States.Timeout' ? 'TIMEOUT' : 'CANCELLED', failure.message));
      },
    };
    this.#attempts.add(attempt);
    const seconds = this.#host.timeouts.get(state) ?? 60;
    // Before the library's own timer, which would leave the handler running.
    const timer = setTimeout(() => attempt.fail(timeoutFailure(seconds)), seconds * 1000);
    work(JSON.parse(text), controller.signal).then(resolve, reject);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#attempts.delete(attempt);
      this.#count(1);
    }
  }

  async #lambda(state: string, invoke: () => Promise<unknown>): Promise<Json> {
    const handler = (async () => invoke())();
    this.#host.track(handler);
    let text: string;
    try {
      text = JSON.stringify((await handler) ?? null);
    } catch (error) {
      throw lambdaFailure(error);
    }
    this.#measure(state, 'a result', text, LAMBDA_RESPONSE_BYTES);
    return { ExecutedVersion: '$LATEST', Payload: JSON.parse(text), StatusCode: 200 };
  }

  #measure(state: string, what: string, text: string, extraBytes = 0): void {
    const bytes = Buffer.byteLength(text) + extraBytes;
    if (bytes > STATE_DATA_BYTES) throw dataLimitFailure(state, what, bytes);
  }

  async #watch(events: AsyncIterable<EngineEvent>): Promise<void> {
    for await (const event of events) {
      this.#count(historyEventsOf(event));
      if (event.type === 'StateEntered') this.#host.onTransition?.({ execution: this.#name, state: event.state.name, kind: 'entered' });
      if (event.type === 'StateRetried') this.#host.onTransition?.({ execution: this.#name, state: event.state.name, kind: 'retried' });
      if (event.type === 'StateExited') this.#checkExit(event.state.name, event.state.output);
    }
  }

  #checkExit(state: string, output: Json | undefined): void {
    if (typeof output !== 'object' || output === null || this.#measured.has(output)) return;
    try {
      this.#measure(state, 'an output', JSON.stringify(output));
      this.#measured.add(output);
    } catch (error) {
      if (!(error instanceof TaskFailure)) throw error;
      this.#end('FAILED', error);
    }
  }

  #count(events: number): void {
    this.#historyEvents += events;
    if (this.#historyEvents <= HISTORY_HARD_LIMIT || this.#ended) return;
    this.#end(
      'FAILED',
      new TaskFailure('States.Runtime', `the execution reached the maximum of ${HISTORY_HARD_LIMIT} history events`, false),
    );
  }

  #end(status: 'FAILED' | 'ABORTED', failure: TaskFailure): void {
    if (this.#ended) return;
    this.#ended = { status, failure };
    this.#abort();
    for (const attempt of this.#attempts) attempt.fail(failure);
  }

  #failed(error: unknown): Pick<ClosedExecution, 'status' | 'error' | 'cause'> {
    // The library wraps what failed the execution.
    const inner = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const { name, message } = this.#ended?.failure ?? (inner instanceof Error ? inner : lambdaFailure(inner));
    this.#ended ??= { status: 'FAILED', failure: new TaskFailure(name, message, false) };
    return { status: this.#ended.status, error: name, cause: message };
  }
}

function payloadOf(task: JsonObject): Json {
  return task['Payload'] ?? null;
}

/** Parameters that a service refuses fail the execution, uncaught, as on AWS. */
function textField(task: JsonObject, field: string): string {
  const value = task[field];
  if (typeof value === 'string') return value;
  throw new TaskFailure('States.Runtime', `${field} must be a string`, false);
}

function objectField(task: JsonObject, field: string): JsonObject {
  const value = task[field];
  if (isJsonObject(value)) return value;
  throw new TaskFailure('States.Runtime', `${field} must be an object`, false);
}
