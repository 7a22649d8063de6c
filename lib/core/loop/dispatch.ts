import { HandrailError } from '../errors.ts';
import { DIMENSIONS } from '../guard/checkers/budget.ts';
import { countedCalls } from '../guard/checkers/rate-limit.ts';
import { TOOL_POLICY, toolPolicyOf } from '../guard/checkers/tool-policy.ts';
import type { MergedConstraints } from '../guard/constraints.ts';
import { type PreflightCall, type PreflightInput, type PreflightOutcome, preflight, type Verdict } from '../guard/preflight.ts';
import { splitStage } from '../hands/execution-mode.ts';
import { approvalIdOf, suspensionIdOf } from '../ids.ts';
import { QUEUE } from '../limits.ts';
import { previewOf } from '../preview.ts';
import { pushFrame } from './frame-stack.ts';
import type { Frame, OpenCall } from './frames.ts';
import { currentPolicies } from './live-policies.ts';
import type { PlacedMessage } from './message.ts';
import { closeBatch, isUntrusted, noteCall, observe, refuse } from './observe.ts';
import { stageCalls } from './output.ts';
import { endWait, takePermits } from './permits.ts';
import { recheckCalls } from './recheck.ts';
import type { Run } from './run.ts';
import { agentOf, constraintsOf, emit, openCalls, runConstraints, type Step, setPlan, topFrame, transcript } from './step.ts';
import { argumentsOf } from './transcript.ts';
import { isAskedUnder } from './tree-board.ts';

/**
 * What becomes of the open batch in this step (design 3.2.8 and 9): the guard first; then a person, if one is needed;
 * else the next stage, as far as permits go. Sets the plan.
 */
export async function dispatch(step: Step): Promise<void> {
  const frame = topFrame(step.run);
  await recheckCalls(step, frame);
  const asked = await passGuard(step, frame);
  await answerBuiltIns(step, frame, asked);
  closeBatch(frame);
  if (asked.length > 0) {
    const suspensionId = suspensionIdOf(step.run.runId, step.run.step);
    stopWaiting(step, frame);
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
  // Whoever called goes on: with the LLM, the tree, or another pass.
  if (frame.batch) await dispatchStage(step, frame);
}

/** What waited for a permit begins anew once people have decided: their time is none in the queue. */
function stopWaiting(step: Step, frame: Frame): void {
  const now = step.deps.clock.now();
  for (const call of openCalls(frame)) {
    if (call.state === 'waiting') call.state = 'ready';
    endWait(step, call, now);
  }
}

/** The guard's verdict on every open call. Denied ones are answered; those that a person must decide are returned. */
async function passGuard(step: Step, frame: Frame): Promise<OpenCall[]> {
  const { deps, run } = step;
  const open = openCalls(frame);
  const history = await transcript(step);
  const began = deps.clock.now();
  const input: PreflightInput = {
    calls: open.map((call) => preflightCall(step, frame, call, history)),
    constraints: guarding(run, frame),
    policies: open.length > 0 ? await currentPolicies(step) : [],
    usage: run.usage,
    effects: run.effects,
    state: run.guard,
    sessionId: run.sessionId,
    // The seed trusts a workflow's own nodes: one that is denied fails alone.
    onDeny: frame.kind === 'tree' ? 'call' : agentOf(deps, frame).on_deny,
    confirmDefault: deps.config.constraints.guard?.confirm_default,
    customCheckers: deps.customCheckers,
  };
  const outcome = await preflightCovered(step, frame, input, open);
  run.timings.guardMs += deps.clock.now() - began;
  run.guard = outcome.state;
  const asked: OpenCall[] = [];
  for (const call of open) {
    const verdict = outcome.verdicts.get(call.callId);
    if (!verdict) throw new HandrailError('INTERNAL', `the guard gave no verdict on ${call.callId}`);
    // A call that goes on passing is not told again at every stage of its batch, but it is once people have decided.
    if (!call.counted || verdict.verdict !== 'allow' || step.before.plan?.next === 'suspend') emit(step, 'guard.decision', verdict.event);
    if (verdict.counted && !call.counted) {
      call.counted = true;
      for (const counted of run.frames) counted.toolCalls += 1;
    }
    if (verdict.verdict === 'ask' || (verdict.verdict === 'allow' && isQuestion(step, call))) asked.push(call);
    if (verdict.verdict === 'deny') observe(step, frame, call, refuse(step, call, new HandrailError('GUARD_DENIED', verdict.reason)));
  }
  return asked;
}

const isQuestion = (step: Step, call: OpenCall): boolean => step.deps.builtIns.get(call.tool)?.kind === 'question';

/** What needs no Lambda is answered in this very commit (design 3.6), unless a person must decide about that call itself. */
async function answerBuiltIns(step: Step, frame: Frame, asked: readonly OpenCall[]): Promise<void> {
  for (const call of openCalls(frame)) {
    const builtIn = step.deps.builtIns.get(call.tool);
    if (builtIn?.kind !== 'answer' || asked.includes(call)) continue;
    const args = argumentsOf(await transcript(step), step.run.runSeq, call.callId);
    const result = await builtIn.answer(step, call, args);
    noteCall(frame, call, args, result);
    observe(step, frame, call, result, isUntrusted(step, call));
  }
}

function preflightCall(step: Step, frame: Frame, call: OpenCall, history: readonly PlacedMessage[]): PreflightCall {
  const definition = step.deps.registry.get(call.tool);
  return {
    callId: call.callId,
    tool: call.tool,
    arguments: argumentsOf(history, step.run.runSeq, call.callId),
    hash: call.hash,
    aliases: definition?.aliases ?? [],
    effectTags: definition?.effectTags ?? [],
    counted: call.counted,
    approvedHash: call.decision?.hash,
    nodePath: `${frame.namespace}/${call.path ?? call.callId}`,
  };
}

/** An approval over a tree's node stands for the tool policy's `confirm` of when it was asked, never for what another checker asks (design 8). */
async function preflightCovered(step: Step, frame: Frame, input: PreflightInput, open: readonly OpenCall[]): Promise<PreflightOutcome> {
  const outcome = await preflight(input);
  const covered = input.calls
    .filter((call) => onlyPolicyAsks(outcome.verdicts.get(call.callId)))
    .filter((call) => {
      const { path, covered: isUnder } = open.find(({ callId }) => callId === call.callId) ?? {};
      if (!isUnder || path === undefined || frame.kind !== 'tree') return false;
      // What the configuration asks, it asked then too.
      const { policy } = toolPolicyOf(input.constraints.guard.tool_policy, { ...call, name: call.tool }, call.arguments);
      return policy === 'confirm' || isAskedUnder(step, frame, path);
    })
    .map(({ callId }) => callId);
  if (covered.length === 0) return outcome;
  return preflight({
    ...input,
    calls: input.calls.map((call) => (covered.includes(call.callId) ? { ...call, approvedHash: call.hash } : call)),
  });
}

function onlyPolicyAsks(verdict: Verdict | undefined): boolean {
  const asking = verdict?.answers.filter(({ decision }) => decision === 'CONFIRM') ?? [];
  return verdict?.verdict === 'ask' && asking.every(({ checker }) => checker === TOOL_POLICY);
}

/**
 * The frame's own policies with the run's budget. Calls are limited by every frame of the stack, each by what it and the
 * frames on it have made (design 3.6); the checker counts the run's, so a frame's limit is put in those terms.
 */
function guarding(run: Run, frame: Frame): MergedConstraints {
  const { max_tool_calls: ofRun, budget } = runConstraints(run).guard;
  const counted = countedCalls(run.guard);
  const limits = run.frames.slice(1).flatMap((child) => {
    const own = child.constraints?.guard.max_tool_calls;
    return own === null || own === undefined ? [] : [counted - child.toolCalls + own];
  });
  const max_tool_calls = limits.length === 0 ? ofRun : Math.min(ofRun ?? Number.POSITIVE_INFINITY, ...limits);
  const own = constraintsOf(run, frame);
  return { ...own, guard: { ...own.guard, max_tool_calls, budget: budgetOfAll(run, budget) } };
}

/** The budget of every frame of the stack in terms of what the run has used. */
function budgetOfAll({ frames, usage }: Run, ofRun: MergedConstraints['guard']['budget']): MergedConstraints['guard']['budget'] {
  const budget = { ...ofRun };
  for (const { limit, used } of DIMENSIONS) {
    for (const child of frames.slice(1)) {
      const own = child.constraints?.guard.budget[limit] ?? null;
      if (own !== null) budget[limit] = Math.min(budget[limit] ?? Number.POSITIVE_INFINITY, used(usage) - used(child.usage) + own);
    }
  }
  return budget;
}

async function dispatchStage(step: Step, frame: Frame): Promise<void> {
  const { run, deps } = step;
  const history = await transcript(step);
  const open = openCalls(frame);
  const first = Math.min(...open.map((call) => call.stage));
  const ready = open.filter((call) => call.stage === first);
  // Nodes of a tree are one stage; those that push a frame come one by one after the others.
  const callIds = ready.filter(({ tool }) => deps.builtIns.get(tool)?.kind !== 'frame').map((call) => call.callId);
  const [opener] = ready;
  if (opener && callIds.length === 0) return openFrame(step, frame, opener);
  const [fitting = []] = splitStage(stageCalls(deps, run, callIds, history));
  const stage = fitting.map(({ call }) => call);
  const now = deps.clock.now();
  const permits = await takePermits(step, stage);
  for (const { call, error } of permits.refused) observe(step, frame, call, refuse(step, call, error));
  for (const call of permits.granted) {
    endWait(step, call, now);
    Object.assign(call, { state: 'inflight', attempt: run.attempt, startedAt: now } satisfies Partial<OpenCall>);
    emit(step, 'tool.call.started', {
      callId: call.callId,
      tool: call.tool,
      mode: frame.kind === 'tree' ? 'workflow' : 'agent',
      frame: frame.namespace,
      args_preview: previewOf(argumentsOf(history, run.runSeq, call.callId)),
    });
  }
  closeBatch(frame);
  if (permits.granted.length > 0) setPlan(step, { next: 'act', calls: permits.granted.map((call) => call.callId) });
  else if (openCalls(frame).some((call) => call.state === 'waiting')) setPlan(step, { next: 'wait', seconds: QUEUE.pollSeconds });
}

/** A call that pushes a frame is a stage of its own; it stays open until the frame ends (design 3.6). */
async function openFrame(step: Step, frame: Frame, call: OpenCall): Promise<void> {
  const builtIn = step.deps.builtIns.get(call.tool);
  if (builtIn?.kind !== 'frame') return;
  const args = argumentsOf(await transcript(step), step.run.runSeq, call.callId);
  emit(step, 'tool.call.started', {
    callId: call.callId,
    tool: call.tool,
    mode: 'agent',
    frame: frame.namespace,
    args_preview: previewOf(args),
  });
  const pushed = await builtIn.push(step, call, args);
  if ('kind' in pushed) {
    call.state = 'inflight';
    pushFrame(step, pushed);
  } else {
    observe(step, frame, call, pushed);
    closeBatch(frame);
  }
}
