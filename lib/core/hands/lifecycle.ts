import * as z from 'zod';
import { withoutMessage } from '../error-facts.ts';
import { type Code, codes, HandrailError, isRetryable } from '../errors.ts';
import { callIdSchema } from '../ids.ts';
import { jsonBytes } from '../json.ts';
import { ARGUMENTS_BYTES, ESCAPED_ERROR_BYTES, RETRY, STATE_DATA_BYTES } from '../limits.ts';
import type { Clock } from '../ports/clock.ts';
import { type Logger, withoutText } from '../ports/logger.ts';
import { type Call, type CallFailure, type CallResult, callSchema } from './call.ts';
import type { ToolContext, ToolHandler, ToolOutput, ToolServices } from './category.ts';
import { failure, failureFrom, processResult, type ResultFacts, shownWhole, type ToolResult } from './result.ts';
import { cleanText, startOf } from './text.ts';

/** All that carrying out a call needs from outside. */
export interface CallDeps {
  /** By registered name. */
  readonly handlers: ReadonlyMap<string, ToolHandler>;
  readonly services: Partial<ToolServices>;
  readonly clock: Pick<Clock, 'now'>;
  readonly logger: Logger;
  /** What handlers log and throw is logged with its text. Absent: without, since it may repeat arguments and results. */
  readonly logText?: boolean;
  /** Calls back once after `ms`, unless the function it returns is called first. */
  startTimer(ms: number, callback: () => void): () => void;
  /** Keeps what is too long for a result among the session's files: its path there. Absent where a call has no files. */
  keepWhole?(call: Call, text: string): Promise<string | undefined>;
  /** The environment gives the call up, such as an engine that stops. */
  readonly signal?: AbortSignal;
}

/**
 * Carries out one call inside its Lambda: checks it, runs the handler under its deadline, processes what comes back (seed 004
 * sections 3.3 and 3.4). The answer never waits for a handler that ignores its signal. Failures are results; only a retryable
 * failure of an idempotent tool is thrown, as an error named `RETRY_<n>`, for the state machine to retry (design 6.2).
 */
export async function runCall(input: unknown, deps: CallDeps): Promise<CallResult> {
  const startedAt = deps.clock.now();
  const factsOf = (toolName: string): ResultFacts => ({
    toolName,
    duration: Math.max(0, deps.clock.now() - startedAt),
    now: deps.clock.now(),
  });
  const checked = checkCall(input);
  if ('refused' in checked) return { callId: checked.callId, result: failureFrom(checked.refused, factsOf(checked.tool)) };
  const { call } = checked;
  try {
    const output = await underDeadline(call, deps);
    return { callId: call.callId, result: await shaped(output, call, factsOf(call.tool), deps) };
  } catch (error) {
    const result = failureFrom(error, factsOf(call.tool));
    const code = result.error?.code ?? 'UNHANDLED';
    deps.logger.warn('call failed', { callId: call.callId, runId: call.runId, tool: call.tool, code });
    if (code === 'UNHANDLED')
      deps.logger.error('a tool failed in a way it did not foresee', deps.logText ? error : withoutMessage(error), {
        callId: call.callId,
        tool: call.tool,
      });
    if (call.idempotent && call.maxRetries > 0 && isRetryable(code)) throw retryError(call.maxRetries, code, result.error?.message ?? '');
    if (code !== 'TIMEOUT' || call.idempotent) return { callId: call.callId, result };
    return { callId: call.callId, result: failure('OUTCOME_UNKNOWN', `outcome unknown: ${result.error?.message}`, factsOf(call.tool)) };
  }
}

/** The result within its budget. What is cut stays readable where the call has files: kept whole, or where it came from. */
async function shaped(output: ToolOutput, call: Call, facts: ResultFacts, deps: CallDeps): Promise<ToolResult> {
  const result = processResult(output, facts, call.resultBudget);
  if (!result.metadata.truncated || 'parts' in output) return result;
  const path = output.source ?? (await keepWhole(shownWhole(output), call, deps));
  return path === undefined ? result : processResult(output, facts, call.resultBudget, path);
}

/** A result that cannot be kept is only cut: the call itself went well. */
async function keepWhole(text: string, call: Call, deps: CallDeps): Promise<string | undefined> {
  try {
    return await deps.keepWhole?.(call, text);
  } catch (error) {
    deps.logger.error('an output could not be kept', error, { callId: call.callId, tool: call.tool });
    return undefined;
  }
}

type CheckedCall = { readonly call: Call } | { readonly callId: string; readonly tool: string; readonly refused: HandrailError };

/** Throws only when there is no call id to answer to. */
function checkCall(input: unknown): CheckedCall {
  const head = z.object({ callId: callIdSchema, tool: z.string().catch('unknown') }).parse(input);
  const refuse = (code: Code, message: string): CheckedCall => ({
    callId: head.callId,
    tool: head.tool.slice(0, 64),
    refused: new HandrailError(code, message),
  });
  try {
    if (jsonBytes(input) > STATE_DATA_BYTES)
      return refuse('INVALID_ARGUMENTS', `the call is over ${STATE_DATA_BYTES} bytes: write in parts`);
    const parsed = callSchema.safeParse(input);
    if (!parsed.success)
      return refuse('INVALID_ARGUMENTS', `the call is malformed at ${parsed.error.issues[0]?.path.join('.') || 'its root'}`);
    if (jsonBytes(parsed.data.arguments) > ARGUMENTS_BYTES)
      return refuse('INVALID_ARGUMENTS', `arguments are over ${ARGUMENTS_BYTES} bytes: write in parts`);
    return { call: parsed.data };
  } catch {
    return refuse('INVALID_ARGUMENTS', 'the call is too deeply nested');
  }
}

async function underDeadline(call: Call, deps: CallDeps): Promise<Awaited<ReturnType<ToolHandler>>> {
  const handler = deps.handlers.get(call.tool);
  if (!handler) throw new HandrailError('TOOL_NOT_FOUND', `no handler for "${call.tool}" in the category ${call.category}`);
  if (deps.signal?.aborted) throw new HandrailError('CANCELLED', `${call.tool} did not run: the environment is stopping`);
  const controller = new AbortController();
  const ended = Promise.withResolvers<never>();
  const end = (error: HandrailError): void => {
    ended.reject(error);
    controller.abort(error);
  };
  const timedOut = (): void => end(new HandrailError('TIMEOUT', `${call.tool} did not finish within ${call.timeoutMs} ms`));
  const givenUp = (): void => end(new HandrailError('CANCELLED', `${call.tool} was stopped; what it had begun may be half done`));
  const stopTimer = deps.startTimer(call.timeoutMs, timedOut);
  deps.signal?.addEventListener('abort', givenUp, { once: true });
  // A handler that throws before its first await must reject like any other.
  const running = async () => handler(call.arguments, contextOf(call, deps, controller.signal), deps.services);
  try {
    return await Promise.race([ended.promise, running()]);
  } catch (error) {
    // Once it was told to stop, what the handler says (mostly an AbortError) is only an echo of that.
    throw controller.signal.aborted ? controller.signal.reason : error;
  } finally {
    stopTimer();
    deps.signal?.removeEventListener('abort', givenUp);
  }
}

function contextOf(call: Call, deps: CallDeps, signal: AbortSignal): ToolContext {
  const { tenant, sessionId, namespace, runId, callId, timeoutMs } = call;
  return {
    tenant,
    sessionId,
    namespace,
    runId,
    callId,
    idempotencyKey: `${runId}:${callId}`,
    signal,
    timeoutMs,
    previousResults: call.previousResults ?? [],
    logger: deps.logText ? deps.logger : withoutText(deps.logger),
    keepWhole: (text) => keepWhole(text, call, deps),
    now: () => deps.clock.now(),
  };
}

/** An error that Lambda reports under the name a retrier of the state machine waits for. At most 1 KB as a Cause, no stack (design 3.5). */
function retryError(maxRetries: number, code: Code, message: string): Error {
  const clean = cleanText(message);
  let length = ESCAPED_ERROR_BYTES;
  let text = JSON.stringify({ code, message: clean.slice(0, length).toWellFormed() });
  while (length > 0 && jsonBytes({ errorType: `RETRY_${maxRetries}`, errorMessage: text, trace: [''] }) > ESCAPED_ERROR_BYTES) {
    length = Math.floor(length * 0.8);
    text = JSON.stringify({ code, message: startOf(clean, length) });
  }
  const error = new Error(text);
  error.name = `RETRY_${maxRetries}`;
  error.stack = '';
  return error;
}

const causeSchema = z.object({ errorMessage: z.string() });
const lastErrorSchema = z.object({ code: z.enum(codes), message: z.string() });

/** What `reason` knows of a call whose Lambda failed. */
export interface FailedCallFacts {
  readonly tool: string;
  readonly category: string;
  readonly idempotent: boolean;
  /** ms since 1970. */
  readonly now: number;
}

/** The result of a call that the state machine caught instead of one (design 6.2, "Retry"). */
export function outcomeOf({ error }: Pick<CallFailure, 'error'>, { tool, category, idempotent, now }: FailedCallFacts): ToolResult {
  const facts: ResultFacts = { toolName: tool, duration: 0, now };
  const name = error.Error;
  if (name === 'Lambda.TooManyRequestsException')
    return failure('SERVICE_UNAVAILABLE', `${tool} did not run: its Lambda is at its limit`, facts);
  if (/^(?:Lambda\.)?(?:ResourceNotFoundException$|AccessDenied)/.test(name))
    return failure('UNHANDLED', `${tool} did not run: its Lambda cannot be reached (${name})`, facts);
  const retries = /^RETRY_(\d)$/.exec(name)?.[1];
  const what =
    retries === undefined
      ? `its Lambda ended with ${cleanText(name.slice(0, 100))}`
      : `failed ${Number(retries) + 1} times${lastError(error.Cause)}`;
  if (!idempotent) return failure('OUTCOME_UNKNOWN', `outcome unknown: ${tool}: ${what}`, facts);
  if (retries !== undefined) return failure('RETRY_EXHAUSTED', `${tool} ${what}`, facts);
  if (name === 'States.Timeout' || name === 'Sandbox.Timedout') return failure('TIMEOUT', `${tool} did not finish in time: ${what}`, facts);
  return failure(category === 'code' ? 'SANDBOX_CRASHED' : 'UNHANDLED', `${tool}: ${what}`, facts);
}

/** The last attempt's error, from the Cause that Lambda writes: `{ errorType, errorMessage, trace }`. */
function lastError(cause: string | undefined): string {
  try {
    const { errorMessage } = causeSchema.parse(JSON.parse(cause ?? ''));
    const { code, message } = lastErrorSchema.parse(JSON.parse(errorMessage));
    return `; last error ${code}: ${message}`;
  } catch {
    return '';
  }
}

/** What the state machine may retry: `maxRetries` of a definition, 0 for a tool that must not run twice (design 3.4). */
export function retriesOf(definition: { readonly idempotent: boolean; readonly retry: { readonly maxRetries: number } }): number {
  return definition.idempotent ? definition.retry.maxRetries : 0;
}

/** ms that a call may be in flight at most: every attempt at its timeout, and the pauses between them (design 6.5, leases). */
export function longestFlightMs(timeoutMs: number, maxRetries: number): number {
  let pauses = 0;
  for (let retry = 0; retry < maxRetries; retry++)
    pauses += Math.min(RETRY.intervalSeconds * RETRY.backoffRate ** retry, RETRY.maxDelaySeconds) * 1000;
  return timeoutMs * (maxRetries + 1) + pauses;
}
