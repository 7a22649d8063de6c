import { type Code, HandrailError } from '../errors.ts';
import { type CallFailure, callFailureSchema, callResultSchema } from '../hands/call.ts';
import { outcomeOf } from '../hands/lifecycle.ts';
import { noteResult } from '../hands/loop-detection.ts';
import { failureFrom, type ToolResult } from '../hands/result.ts';
import { hashJson } from '../hash.ts';
import type { Json, JsonObject } from '../json.ts';
import { previewOf } from '../preview.ts';
import type { Frame, OpenCall } from './frames.ts';
import { leaseKey } from './keys.ts';
import { endWait } from './permits.ts';
import { emit, openCalls, type Step, say, topFrame, transcript } from './step.ts';
import { argumentsOf } from './transcript.ts';
import { completeCall } from './tree-board.ts';
import { countCall } from './work.ts';

/** Why a call ends without a result of its tool. */
export function refuse(step: Step, call: Pick<OpenCall, 'tool'>, error: HandrailError): ToolResult {
  return failureFrom(error, { toolName: call.tool, duration: 0, now: step.deps.clock.now() });
}

/**
 * Gives a call its one observation: the transcript, the counts, the lease, the event (design 3.3). `untrusted`: the result,
 * be it an error, holds what strangers wrote, or may; what is said here of a call that did not run never does.
 */
export function observe(step: Step, frame: Frame, call: OpenCall, result: ToolResult, untrusted = false): void {
  const definition = step.deps.registry.get(call.tool);
  say(step, frame, { role: 'observation', callId: call.callId, tool: call.tool, result, untrusted });
  if (untrusted) frame.untrusted = true;
  call.state = 'done';
  endWait(step, call, step.deps.clock.now());
  if (call.attempt !== undefined) step.giveBack.push(leaseKey(step.run.runId, call.callId, call.attempt));
  step.run.timings.toolMs += result.metadata.duration;
  if (result.success) for (const tag of definition?.effectTags ?? []) step.run.effects[tag] = (step.run.effects[tag] ?? 0) + 1;
  if (frame.kind === 'tree') completeCall(step, frame, call, result, untrusted);
  const facts = { callId: call.callId, tool: call.tool, frame: frame.namespace, duration: result.metadata.duration };
  const partial = result.partialFailure === undefined ? {} : { code: 'PARTIAL_SUCCESS' satisfies Code };
  if (result.success) emit(step, 'tool.call.completed', { ...facts, ...partial, result_preview: previewOf(result.data ?? '') });
  else
    emit(step, 'tool.call.failed', {
      ...facts,
      error: { code: result.error?.code ?? 'UNHANDLED', message: previewOf(result.error?.message ?? '') },
    });
}

/** For loop detection: what a call with these arguments came to (design 6.4). */
export function noteCall(frame: Frame, call: Pick<OpenCall, 'tool'>, args: JsonObject, result: ToolResult): void {
  if (frame.kind === 'agent')
    noteResult(frame.repeats, hashJson([call.tool, args]), hashJson([result.success, result.data ?? null, result.error?.code ?? null]));
}

/** The open batch is over once each of its calls has been observed. */
export function closeBatch(frame: Frame): void {
  if (frame.batch && openCalls(frame).length === 0) delete frame.batch;
}

/**
 * Matches what came back from the Act map to the calls the committed plan dispatched. Unknown and repeated ids are
 * dropped; a call without an answer has an unknown outcome (design 3.2.2).
 */
export async function observeResults(step: Step, answers: readonly Json[]): Promise<void> {
  const frame = topFrame(step.run);
  const byCall = new Map<string, Json>();
  for (const answer of answers) {
    const id = callFailureSchema.pick({ callId: true }).safeParse(answer);
    if (id.success && !byCall.has(id.data.callId)) byCall.set(id.data.callId, answer);
  }
  for (const call of openCalls(frame)) {
    if (call.state !== 'inflight') continue;
    const { result, failure } = readAnswer(step, call, byCall.get(call.callId));
    countCall(step.run, call.category, result.metadata.duration, failure);
    const args = argumentsOf(await transcript(step), step.run.runSeq, call.callId);
    noteCall(frame, call, args, result);
    observe(step, frame, call, result, isUntrusted(step, call));
  }
}

/** What a tool brings back. Of one that a deployment took away nobody knows. */
export const isUntrusted = (step: Step, { tool }: Pick<OpenCall, 'tool'>): boolean => step.deps.registry.get(tool)?.untrusted ?? true;

/** `failure`: what the catchers of the Act map made of a Lambda that failed. */
function readAnswer(step: Step, call: OpenCall, answer: Json | undefined): { result: ToolResult; failure?: CallFailure['error'] } {
  const success = callResultSchema.safeParse(answer);
  if (success.success) return { result: success.data.result };
  const failure = callFailureSchema.safeParse(answer);
  const error: CallFailure['error'] = failure.success ? failure.data.error : { Error: 'Handrail.NoAnswer' };
  const idempotent = step.deps.registry.get(call.tool)?.idempotent ?? false;
  const result = outcomeOf({ error }, { tool: call.tool, category: call.category, idempotent, now: step.deps.clock.now() });
  return failure.success ? { result, failure: error } : { result };
}

/** After a crash of the engine: calls in flight are dispatched again if that does no harm (design 3.2.2, `recover`). */
export function recoverCalls(step: Step): void {
  const frame = topFrame(step.run);
  // Nothing of the run is in flight any more, and attempts that never came to their commit may have left leases too.
  step.giveBack.push(...step.inputs.permits.leases.filter((lease) => lease.run === step.run.runId).map((lease) => lease.key));
  for (const call of openCalls(frame)) {
    if (call.state !== 'inflight') continue;
    if (step.deps.registry.get(call.tool)?.idempotent) {
      call.state = 'ready';
      delete call.attempt;
    } else {
      const error = new HandrailError(
        'OUTCOME_UNKNOWN',
        'outcome unknown: the engine stopped while this call was in flight; check before you repeat it',
      );
      observe(step, frame, call, refuse(step, call, error));
    }
  }
}
