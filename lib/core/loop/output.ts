import { HandrailError } from '../errors.ts';
import type { Call } from '../hands/call.ts';
import { previousResultsFor, resultBudget } from '../hands/execution-mode.ts';
import { TOOL_TIMEOUT_MS } from '../limits.ts';
import type { RunStore } from '../ports/run-store.ts';
import type { LoopDeps } from './deps.ts';
import { keyOf } from './keys.ts';
import type { PlacedMessage } from './message.ts';
import type { Plan, ReasonOutput } from './plan.ts';
import type { Run } from './run.ts';
import { topFrame } from './step.ts';
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

function buildCalls(deps: LoopDeps, run: Run, callIds: Extract<Plan, { next: 'act' }>['calls'], history: readonly PlacedMessage[]): Call[] {
  const frame = topFrame(run);
  const batch = frame.batch?.calls ?? [];
  const observed = resultsOf(
    history,
    run.runSeq,
    batch.map((call) => call.callId),
  );
  return callIds.map((callId): Call => {
    const open = batch.find((call) => call.callId === callId);
    if (!open) throw new HandrailError('INTERNAL', `the plan of run ${run.runId} names the call ${callId}, which is not in its batch`);
    // A tool that a deployment took away since the commit is still invoked: its Lambda answers TOOL_NOT_FOUND.
    const definition = deps.registry.get(open.tool);
    const previous = definition ? previousResultsFor(definition, observed, deps.registry) : [];
    return {
      callId,
      tool: open.tool,
      category: open.category,
      functionName: deps.functionName(open.category),
      arguments: argumentsOf(history, run.runSeq, callId),
      timeoutMs: definition ? deps.registry.timeoutOf(definition) : TOOL_TIMEOUT_MS.default,
      idempotent: definition?.idempotent ?? false,
      maxRetries: definition?.retry.maxRetries ?? 0,
      resultBudget: resultBudget(callIds.length),
      ...(previous.length > 0 ? { previousResults: previous } : {}),
      tenant: run.tenant,
      sessionId: run.sessionId,
      namespace: frame.namespace,
      runId: run.runId,
    };
  });
}
