import { HandrailError } from '../errors.ts';
import { narrowedMs } from '../guard/execution-constraints.ts';
import type { Call, PreviousResult } from '../hands/call.ts';
import type { ToolDefinition } from '../hands/define-tool.ts';
import { previousResultsFor, resultBudget, splitStage } from '../hands/execution-mode.ts';
import { retriesOf } from '../hands/lifecycle.ts';
import type { JsonObject } from '../json.ts';
import { TOOL_TIMEOUT_MS } from '../limits.ts';
import type { RunStore } from '../ports/run-store.ts';
import type { LoopDeps } from './deps.ts';
import type { OpenCall } from './frames.ts';
import { keyOf } from './keys.ts';
import type { PlacedMessage } from './message.ts';
import type { ReasonOutput } from './plan.ts';
import type { Run } from './run.ts';
import { constraintsOf, topFrame } from './step.ts';
import { argumentsOf, resultsOf } from './transcript.ts';

/** What tells the machine that there is nothing to do in this execution. */
export function finishOutput(ctx: ReasonOutput['ctx']): ReasonOutput {
  return { ctx: { ...ctx, step: ctx.step + 1 }, next: 'finish' };
}

/** The committed plan of `run` as the machine wants it. `history` saves a read when the caller has the transcript. */
export async function outputOf(deps: LoopDeps, run: Run, history?: readonly PlacedMessage[]): Promise<ReasonOutput> {
  const ctx = { ...keyOf(run), step: run.step };
  const { plan } = run;
  if (!plan) throw new HandrailError('INTERNAL', `run ${run.runId} has no plan at step ${run.step}`);
  switch (plan.next) {
    case 'act':
      return { ctx, next: 'act', calls: buildCalls(deps, run, plan.calls, history ?? (await batchHistory(deps.runs, run))) };
    case 'wait':
      return { ctx, next: 'wait', seconds: plan.seconds };
    case 'continue':
      return { ctx, next: 'continue', name: plan.name };
    case 'reason':
    case 'suspend':
    case 'finish':
      return { ctx, next: plan.next };
  }
}

/** The top frame's transcript back to its open batch. */
export async function batchHistory(runs: RunStore, run: Run): Promise<PlacedMessage[]> {
  const frame = topFrame(run);
  if (!frame.batch) throw new HandrailError('INTERNAL', `run ${run.runId} plans calls but has no batch`);
  return runs.readTranscript(run, frame.head, 1, { runSeq: frame.batch.runSeq, step: frame.batch.step });
}

/** A call of a stage with what it is given. */
export interface StageCall {
  readonly call: OpenCall;
  readonly arguments: JsonObject;
  readonly previousResults: readonly PreviousResult[];
}

/** The calls `callIds` of the open batch with their arguments and the results of its earlier calls (design 6.4). */
export function stageCalls(
  deps: Pick<LoopDeps, 'registry'>,
  run: Run,
  callIds: readonly string[],
  history: readonly PlacedMessage[],
): StageCall[] {
  const batch = topFrame(run).batch?.calls ?? [];
  const ids = batch.map((call) => call.callId);
  const earlier = resultsOf(history, run.runSeq, ids).map((result) => ({
    ...result,
    category: batch.find(({ callId }) => callId === result.callId)?.category ?? '',
  }));
  return callIds.map((callId): StageCall => {
    const call = batch.find((open) => open.callId === callId);
    if (!call) throw new HandrailError('INTERNAL', `the plan of run ${run.runId} names the call ${callId}, which is not in its batch`);
    const definition = deps.registry.get(call.tool);
    return {
      call,
      arguments: argumentsOf(history, run.runSeq, callId),
      previousResults: definition ? previousResultsFor(definition, earlier) : [],
    };
  });
}

/** ms one attempt at a call of the top frame may take: what its tool may, as far as the frame's constraints let it. */
export function attemptMs({ registry }: Pick<LoopDeps, 'registry'>, run: Run, definition: ToolDefinition): number {
  return narrowedMs(constraintsOf(run, topFrame(run)).execution, registry.timeoutOf(definition));
}

function buildCalls(deps: LoopDeps, run: Run, callIds: readonly string[], history: readonly PlacedMessage[]): Call[] {
  const stage = splitStage(stageCalls(deps, run, callIds, history)).flat();
  return stage.map(({ call, arguments: args, previousResults }): Call => {
    // A tool that a deployment took away since the commit is still invoked: its Lambda answers TOOL_NOT_FOUND.
    const definition = deps.registry.get(call.tool);
    return {
      callId: call.callId,
      tool: call.tool,
      category: call.category,
      functionName: deps.functionName(call.category, call.tool),
      arguments: args,
      timeoutMs: definition ? attemptMs(deps, run, definition) : TOOL_TIMEOUT_MS.default,
      idempotent: definition?.idempotent ?? false,
      maxRetries: definition ? retriesOf(definition) : 0,
      resultBudget: resultBudget(callIds.length),
      ...(previousResults.length > 0 ? { previousResults: [...previousResults] } : {}),
      tenant: run.tenant,
      sessionId: run.sessionId,
      namespace: topFrame(run).namespace,
      runId: run.runId,
    };
  });
}
