import { HandrailError } from '../errors.ts';
import { preflight, type Verdict } from '../guard/preflight.ts';
import { splitStage } from '../hands/execution-mode.ts';
import { approvalIdOf, suspensionIdOf } from '../ids.ts';
import type { JsonObject } from '../json.ts';
import { QUEUE } from '../limits.ts';
import { previewOf } from '../preview.ts';
import type { AgentFrame, OpenCall } from './frames.ts';
import { closeBatch, observe, refuse } from './observe.ts';
import { stageCalls } from './output.ts';
import { takePermits } from './permits.ts';
import { agentOf, emit, openCalls, type Step, setPlan, topFrame, transcript } from './step.ts';
import { argumentsOf } from './transcript.ts';

/** Events ride in the run item, which has to stay small: larger batches are told in less detail. */
const DETAILED_CALLS = 24;

/**
 * What becomes of the open batch in this step (design 3.2.8 and 9): the guard first; then a person, if one is needed;
 * else the next stage, as far as permits go. Sets the plan.
 */
export async function dispatch(step: Step): Promise<void> {
  const frame = topFrame(step.run);
  const asked = await passGuard(step, frame);
  await answerBuiltIns(step, frame, asked);
  closeBatch(frame);
  if (asked.length > 0) {
    const suspensionId = suspensionIdOf(step.run.runId, step.run.step);
    for (const call of asked) {
      call.state = 'blocked';
      emit(step, 'approval.requested', {
        approvalId: approvalIdOf(suspensionId, call.callId),
        callId: call.callId,
        tool: call.tool,
        kind: isQuestion(step, call) ? 'question' : 'tool',
      });
    }
    step.run.status = 'waiting';
    setPlan(step, { next: 'suspend', suspensionId });
    return;
  }
  if (!frame.batch) {
    setPlan(step, { next: 'reason' });
    return;
  }
  await dispatchStage(step, frame);
}

/** The guard's verdict on every open call. Denied ones are answered; those that a person must decide are returned. */
async function passGuard(step: Step, frame: AgentFrame): Promise<OpenCall[]> {
  const { deps, run, inputs } = step;
  const open = openCalls(frame);
  const history = await transcript(step);
  const began = deps.clock.now();
  const outcome = await preflight({
    calls: open.map((call) => {
      const definition = deps.registry.get(call.tool);
      return {
        callId: call.callId,
        tool: call.tool,
        arguments: argumentsOf(history, run.runSeq, call.callId),
        hash: call.hash,
        aliases: definition?.aliases ?? [],
        effectTags: definition?.effectTags ?? [],
        counted: call.counted,
        approvedHash: call.decision?.hash,
        nodePath: `${frame.namespace}/${call.callId}`,
      };
    }),
    constraints: run.constraints,
    policies: inputs.policies,
    usage: run.usage,
    effects: run.effects,
    state: run.guard,
    sessionId: run.sessionId,
    onDeny: agentOf(deps, frame).on_deny,
    confirmDefault: deps.config.constraints.guard?.confirm_default,
  });
  run.timings.guardMs += deps.clock.now() - began;
  run.guard = outcome.state;
  const asked: OpenCall[] = [];
  for (const call of open) {
    const verdict = outcome.verdicts.get(call.callId);
    if (!verdict) throw new HandrailError('INTERNAL', `the guard gave no verdict on ${call.callId}`);
    // A call that goes on passing is not told again at every stage of its batch.
    if (!call.counted || verdict.verdict !== 'allow')
      emit(step, 'guard.decision', open.length > DETAILED_CALLS ? shortOf(verdict) : verdict.event);
    if (verdict.counted) call.counted = true;
    if (verdict.verdict === 'ask' || (verdict.verdict === 'allow' && isQuestion(step, call))) asked.push(call);
    if (verdict.verdict === 'deny') observe(step, frame, call, refuse(step, call, new HandrailError('GUARD_DENIED', verdict.reason)));
  }
  return asked;
}

const isQuestion = (step: Step, call: OpenCall): boolean => step.deps.builtIns.get(call.tool)?.kind === 'question';

/** What needs no Lambda is answered in this very commit, unless a person must decide about the batch first. */
async function answerBuiltIns(step: Step, frame: AgentFrame, asked: readonly OpenCall[]): Promise<void> {
  if (asked.length > 0) return;
  for (const call of openCalls(frame)) {
    const builtIn = step.deps.builtIns.get(call.tool);
    if (builtIn?.kind !== 'answer') continue;
    const args = argumentsOf(await transcript(step), step.run.runSeq, call.callId);
    observe(step, frame, call, await builtIn.answer(step, call, args));
  }
}

/** The decision without what each checker said. */
function shortOf({ event }: Verdict): JsonObject {
  const { answers: _answers, looked_at: _lookedAt, ...rest } = event;
  return rest;
}

async function dispatchStage(step: Step, frame: AgentFrame): Promise<void> {
  const { run, deps } = step;
  const history = await transcript(step);
  const open = openCalls(frame);
  const first = Math.min(...open.map((call) => call.stage));
  const callIds = open.filter((call) => call.stage === first).map((call) => call.callId);
  const [fitting = []] = splitStage(stageCalls(deps, run, callIds, history));
  const stage = fitting.map(({ call }) => call);
  const now = deps.clock.now();
  const permits = await takePermits(step, stage);
  for (const { call, error } of permits.refused) observe(step, frame, call, refuse(step, call, error));
  for (const call of permits.granted) {
    if (call.waitingSince !== undefined) run.timings.queueMs += now - call.waitingSince;
    delete call.waitingSince;
    Object.assign(call, { state: 'inflight', attempt: run.attempt, startedAt: now } satisfies Partial<OpenCall>);
    frame.toolCalls += 1;
    emit(step, 'tool.call.started', {
      callId: call.callId,
      tool: call.tool,
      mode: 'agent',
      frame: frame.namespace,
      args_preview: previewOf(argumentsOf(history, run.runSeq, call.callId)),
    });
  }
  closeBatch(frame);
  if (permits.granted.length > 0) setPlan(step, { next: 'act', calls: permits.granted.map((call) => call.callId) });
  else if (openCalls(frame).some((call) => call.state === 'waiting')) setPlan(step, { next: 'wait', seconds: QUEUE.pollSeconds });
  else setPlan(step, { next: 'reason' });
}
