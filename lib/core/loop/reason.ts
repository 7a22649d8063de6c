import { HandrailError } from '../errors.ts';
import { buildSuspension, type SuspensionOptions } from '../guard/approvals/open.ts';
import { executionName, suspensionIdOf } from '../ids.ts';
import { STAGE_CALLS, SUSPENSION_TTL_MS } from '../limits.ts';
import { mustContinue, START_EVENTS, worstCaseEvents } from '../machine/history.ts';
import { decide } from './decide.ts';
import type { LoopDeps } from './deps.ts';
import { finishRun } from './finish.ts';
import { endLateFrames, expireTreeTimeouts } from './frame-limits.ts';
import { currentExecution, keyOf } from './keys.ts';
import { closeBatch, observeResults, recoverCalls } from './observe.ts';
import { batchHistory, finishOutput, outputOf } from './output.ts';
import { endWait, returnPermits, undoPermits } from './permits.ts';
import { type ReasonEvent, type ReasonOutput, reasonEventSchema } from './plan.ts';
import type { Run } from './run.ts';
import { isTerminal } from './run-status.ts';
import { activeMs, beginStep, emit, openCalls, runConstraints, type Step, say, setPlan, topFrame, transcript } from './step.ts';
import { commitOrEnd } from './too-large.ts';
import { takeDecisions } from './woke.ts';
import { countPlan } from './work.ts';

/** A loser of the commit starts over; what it then finds ends it, so a few times are enough. */
const COMMIT_ATTEMPTS = 5;
/** The most a definition may ask for. */
const MOST_RETRIES = 5;

/**
 * One step of the loop (design 3.2). Killed at any point and run again, or running twice at once, it asks the LLM no
 * second time for a committed step, counts nothing twice, and loses and invents no message. Throws only for its own faults.
 */
export async function reason(deps: LoopDeps, input: unknown): Promise<ReasonOutput> {
  const event = reasonEventSchema.parse(input);
  for (let attempt = 0; attempt < COMMIT_ATTEMPTS; attempt++) {
    const output = await pass(deps, event);
    if (output) return output;
  }
  throw new HandrailError('INTERNAL', `run ${event.data.ctx.runId} changed ${COMMIT_ATTEMPTS} times under step ${event.data.ctx.step}`);
}

/** Undefined: another attempt won the commit; look again. */
async function pass(deps: LoopDeps, event: ReasonEvent): Promise<ReasonOutput | undefined> {
  const { ctx } = event.data;
  const inputs = await deps.runs.loadStep(keyOf(ctx), suspensionIdOf(ctx.runId, ctx.step));
  const { run } = inputs;
  switch (standing(run, event)) {
    case 'over':
      return finishOutput(ctx);
    case 'committed':
      await afterCommit(deps, run as Run);
      return outputOf(deps, run as Run);
    case 'due': {
      const step = beginStep(deps, inputs, run as Run);
      await work(step, event);
      await returnPermits(step);
      step.run.historyEvents += passEvents(step.run);
      countPlan(step.run);
      const { outcome, step: last } = await commitOrEnd(step);
      if (!outcome.committed) {
        await undoPermits(last);
        return undefined;
      }
      await afterCommit(deps, last.run, last);
      return outputOf(deps, last.run, last.history.has(topFrame(last.run).namespace) ? await transcript(last) : undefined);
    }
  }
}

function standing(run: Run | undefined, { data: { ctx }, execution }: ReasonEvent): 'over' | 'committed' | 'due' {
  if (!run || run.status === 'starting' || run.step > ctx.step + 1) return 'over';
  const committed = run.step === ctx.step + 1;
  // A `continue` that was committed but whose answer got lost belongs to the execution before the current one.
  const handedOver = committed && run.plan?.next === 'continue' && execution === executionName(run.runId, run.execution - 1);
  if (execution !== currentExecution(run) && !handedOver) return 'over';
  if (committed) return 'committed';
  if (run.step < ctx.step)
    throw new HandrailError('INTERNAL', `run ${run.runId} stands at step ${run.step}, behind its execution at ${ctx.step}`);
  return isTerminal(run) ? 'over' : 'due';
}

/** What is written after the commit has keys that follow from it, so doing it twice does no harm. */
async function afterCommit(deps: LoopDeps, run: Run, step?: Step): Promise<void> {
  const { plan } = run;
  if (plan?.next === 'suspend' && plan.suspensionId === suspensionIdOf(run.runId, run.step)) {
    const history = step ? await transcript(step) : await batchHistory(deps.runs, run);
    await deps.guard.openSuspension(buildSuspension(run, topFrame(run), history, suspensionOptions(deps)));
  }
  const taken = step?.before.plan;
  if (taken?.next === 'suspend' && !(plan?.next === 'suspend' && plan.suspensionId === taken.suspensionId)) {
    const now = deps.clock.now();
    await deps.guard.changeSuspension(taken.suspensionId, { kind: 'ack', now, ttl: Math.ceil((now + SUSPENSION_TTL_MS) / 1000) });
  }
}

async function work(step: Step, event: ReasonEvent): Promise<void> {
  const { run } = step;
  run.status = 'running';
  await absorb(step, event);
  if (run.cancelRequestedAt !== undefined) return finishRun(step, { outcome: 'cancelled' });
  if (run.plan) return;
  if (activeMs(step) >= runConstraints(run).timeout) return finishRun(step, { outcome: 'timeout' });
  if (isHistoryFull(step)) return handOver(step);
  await endLateFrames(step);
  await expireTreeTimeouts(step);
  await decide(step);
}

function suspensionOptions({ config, builtIns }: LoopDeps): SuspensionOptions {
  return { ttlMs: config.approvals.ttl_ms, isQuestion: (tool) => builtIns.get(tool)?.kind === 'question' };
}

/** Takes what the last plan brought: results, decisions, or the first input. Plans again to suspend when people have still to decide. */
async function absorb(step: Step, { data }: ReasonEvent): Promise<void> {
  const { run, before } = step;
  const frame = topFrame(run);
  if (data.recover) {
    step.activeSince = step.startedAt;
    // Nobody polled for it while the engine stood still.
    for (const call of openCalls(frame)) endWait(step, call, before.updatedAt);
  }
  if (data.recover && before.plan) emit(step, 'run.recovered', { plan: before.plan.next });
  switch (before.plan?.next) {
    case undefined:
      say(step, frame, { role: 'user', text: run.input });
      emit(step, 'run.started', {
        agent: run.agent,
        sessionId: run.sessionId,
        by: run.principal,
        ...(frame.kind === 'agent' && frame.skills ? { skills: frame.skills } : {}),
      });
      return;
    case 'act':
      if (data.recover) recoverCalls(step);
      else await observeResults(step, data.calls ?? []);
      closeBatch(frame);
      return;
    case 'suspend': {
      const { suspensionId } = before.plan;
      if (await takeDecisions(step, suspensionId)) {
        closeBatch(frame);
        return;
      }
      // Whoever plans it again also makes sure that it is there: the step that planned it may have died before.
      await step.deps.guard.openSuspension(buildSuspension(before, topFrame(before), await transcript(step), suspensionOptions(step.deps)));
      run.status = 'waiting';
      setPlan(step, before.plan);
      return;
    }
    case 'continue':
      run.historyEvents = START_EVENTS;
      emit(step, 'run.continued', { execution: currentExecution(run) });
      return;
    case 'reason':
    case 'wait':
    case 'finish':
      return;
  }
}

/** A new execution takes at least one step of the run forward, however low the limit: else it would only begin the next. */
function isHistoryFull({ run, before, deps }: Step): boolean {
  const { hands, limits } = deps.config;
  const isNew = before.plan === undefined || before.plan.next === 'continue';
  const calls = Math.min(hands.concurrency.global, STAGE_CALLS);
  return !isNew && mustContinue(run.historyEvents, 'act', calls, MOST_RETRIES, limits.history_events);
}

/** The history of this execution is nearly full: the next one goes on (design 3.5). Nothing is in flight here. */
function handOver(step: Step): void {
  step.run.execution += 1;
  setPlan(step, { next: 'continue', name: currentExecution(step.run) });
}

/** Worst-case history events from this answer to the next (design 3.5). */
function passEvents(run: Run): number {
  const calls = run.plan?.next === 'act' ? run.plan.calls.length : 0;
  return worstCaseEvents(run.plan?.next ?? 'finish', calls, MOST_RETRIES);
}
