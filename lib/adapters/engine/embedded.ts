import { setTimeout as sleep } from 'node:timers/promises';
import { StateMachine, type StateMachineDefinition } from 'aws-local-stepfunctions';
import { HandrailError } from '../../core/errors.ts';
import { isJsonObject, type JsonObject } from '../../core/json.ts';
import { STATE_DATA_BYTES } from '../../core/limits.ts';
import { STATES } from '../../core/machine/loop.ts';
import type { Engine } from '../../core/ports/engine.ts';
import { type ClosedExecution, type EngineHandlers, Execution, type ExecutionHost, type Transition } from './execution.ts';
import { TaskTokens } from './task-tokens.ts';

export type { ClosedExecution, EngineHandlers, Transition };

export interface EmbeddedEngineOptions {
  /** What `loopDefinition` returned: the deployed definition, unchanged. */
  readonly definition: JsonObject;
  readonly handlers: EngineHandlers;
  /** ms that Wait pauses, whatever the plan says. @default the seconds of the plan */
  readonly waitMs?: number;
  /** ms before a retry, whatever the retrier says. @default as the definition says */
  readonly retryMs?: number;
  /** Must not throw. */
  readonly onTransition?: (transition: Transition) => void;
  /** Where AWS would send an execution-status event. Must not throw. */
  readonly onClosed?: (execution: ClosedExecution) => void;
}

const MACHINE_ARN = 'arn:aws:states:local:000000000000:stateMachine:handrail';
const NAME = /^[A-Za-z0-9_-]{1,80}$/;
const STOP_GRACE_MS = 2_000;

/**
 * Step Functions in this process (design sections 3.5 and 10). Executions live in memory: after a restart the caller
 * starts them again with `recover: true`. Where AWS would end an execution for its size or its history, so does this.
 */
export class EmbeddedEngine implements Engine {
  readonly #running = new Map<string, Execution>();
  readonly #closed = new Set<string>();
  /** Handlers that run and executions that are not closed. */
  readonly #pending = new Set<Promise<unknown>>();
  readonly #tokens = new TaskTokens();
  readonly #host: ExecutionHost;
  readonly #onClosed: ((execution: ClosedExecution) => void) | undefined;
  #stopped = false;

  constructor(options: EmbeddedEngineOptions) {
    const { definition, handlers, waitMs, retryMs } = options;
    this.#onClosed = options.onClosed;
    const timeouts = taskTimeouts(definition);
    this.#host = {
      // Unit tests validate it; doing so at each start costs more than the rest of the engine. Our own data, hence the cast.
      machine: new StateMachine(definition as unknown as StateMachineDefinition, { validationOptions: { noValidate: true } }),
      machineArn: MACHINE_ARN,
      timeouts,
      handlers,
      tokens: this.#tokens,
      pauses: {
        ...(waitMs === undefined ? {} : { waitTimeOverrides: { [STATES.wait]: waitMs } }),
        ...(retryMs === undefined
          ? {}
          : { retryIntervalOverrides: Object.fromEntries([...timeouts.keys()].map((state) => [state, retryMs])) }),
      },
      onTransition: options.onTransition,
      start: (name, input) => this.start(name, input),
      track: (handler) => this.#track(handler),
    };
  }

  /** HandrailError BAD_REQUEST for a bad name, PAYLOAD_TOO_LARGE, SERVICE_UNAVAILABLE once stopped. */
  async start(name: string, input: JsonObject): Promise<'started' | 'exists'> {
    if (!NAME.test(name)) throw new HandrailError('BAD_REQUEST', 'an execution name is 1 to 80 of A-Z a-z 0-9 _ -', { field: 'name' });
    const copy = jsonCopy(input);
    if (this.#stopped) throw new HandrailError('SERVICE_UNAVAILABLE', 'the engine is stopped');
    if (this.#running.has(name) || this.#closed.has(name)) return 'exists';
    const execution = new Execution(name, this.#host);
    this.#running.set(name, execution);
    const closing = execution.run(copy).then((closed) => {
      this.#running.delete(name);
      this.#closed.add(name);
      this.#onClosed?.(closed);
    });
    this.#track(closing);
    return 'started';
  }

  /** HandrailError PAYLOAD_TOO_LARGE over 256 KiB. */
  async sendTaskSuccess(token: string, output: JsonObject): Promise<'delivered' | 'gone'> {
    return this.#tokens.answer(token, jsonCopy(output)) ? 'delivered' : 'gone';
  }

  async status(name: string): Promise<'running' | 'closed' | 'absent'> {
    if (this.#running.has(name)) return 'running';
    return this.#closed.has(name) ? 'closed' : 'absent';
  }

  /**
   * Aborts the handlers a run has in flight (design section 4, "Cancelling"); its execution goes on, and handlers
   * called later have fresh signals.
   */
  abortRun(runId: string): void {
    const reason = new HandrailError('CANCELLED', 'the run was cancelled');
    for (const [name, execution] of this.#running) {
      if (name.slice(0, name.lastIndexOf('-')) === runId) execution.abortHandlers(reason);
    }
  }

  /** Ends every execution (`ABORTED`), aborts their handlers and waits for both, `graceMs` at most. Nothing starts afterwards. */
  async stop(graceMs = STOP_GRACE_MS): Promise<void> {
    this.#stopped = true;
    for (const execution of this.#running.values()) execution.stop();
    const timer = new AbortController();
    const grace = sleep(graceMs, undefined, { signal: timer.signal }).catch(() => undefined);
    await Promise.race([Promise.allSettled(this.#pending), grace]);
    timer.abort();
  }

  #track(work: Promise<unknown>): void {
    this.#pending.add(work);
    const done = () => void this.#pending.delete(work);
    work.then(done, done);
  }
}

/** State data passes as JSON and as nothing else. */
function jsonCopy(value: JsonObject): JsonObject {
  const text = JSON.stringify(value);
  if (Buffer.byteLength(text) > STATE_DATA_BYTES) {
    throw new HandrailError('PAYLOAD_TOO_LARGE', `the input is larger than ${STATE_DATA_BYTES} bytes`);
  }
  return JSON.parse(text) as JsonObject;
}

/** TimeoutSeconds of every Task, those inside Maps too; names are unique over all (design 3.1). */
function taskTimeouts(definition: JsonObject): Map<string, number> {
  const timeouts = new Map<string, number>();
  const { States: states } = definition;
  if (!isJsonObject(states)) return timeouts;
  for (const [name, state] of Object.entries(states)) {
    if (!isJsonObject(state)) continue;
    if (typeof state['TimeoutSeconds'] === 'number') timeouts.set(name, state['TimeoutSeconds']);
    if (isJsonObject(state['ItemProcessor'])) for (const entry of taskTimeouts(state['ItemProcessor'])) timeouts.set(...entry);
  }
  return timeouts;
}
