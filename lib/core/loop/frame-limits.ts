import { HandrailError } from '../errors.ts';
import { BUDGET } from '../guard/checkers/budget.ts';
import { checkLlmCall } from '../guard/preflight.ts';
import { expireTimeouts } from '../trees/tick.ts';
import { askModel } from './ask.ts';
import { finishRun } from './finish.ts';
import { failedFrame } from './frame-stack.ts';
import type { TreeFrame } from './frames.ts';
import { closeBatch, observe, refuse } from './observe.ts';
import type { Outcome } from './run.ts';
import { activeMs, agentOf, constraintsOf, emit, openCalls, type Step, topFrame } from './step.ts';
import { treeOf } from './tree-board.ts';

/** `denied`: not a limit of the frame, a checker of the operator's own. */
type Limit = Extract<Outcome, 'iteration_limit' | 'budget_exceeded'> | { readonly denied: string };

/**
 * Iterations and budget of every frame of the stack, each against its own limit, before an LLM call (design 3.6). The
 * limit of a frame ends that frame, and with it those above: a child answers RESOURCE_EXHAUSTED, the root ends the run.
 */
export async function stopAtLimit(step: Step): Promise<boolean> {
  const { run } = step;
  for (const [depth, frame] of run.frames.entries()) {
    const limit = await limitOf(step, depth);
    if (limit === undefined) continue;
    while (run.frames.length > depth + 1) await failedFrame(step, 'CANCELLED', `a frame below ended: ${wordsOf(limit)}`);
    if (depth === 0) await finishAtLimit(step, limit);
    else await failedFrame(step, 'RESOURCE_EXHAUSTED', `${frame.namespace} reached its limit: ${wordsOf(limit)}`);
    return true;
  }
  return false;
}

async function limitOf(step: Step, depth: number): Promise<Limit | undefined> {
  const { run, inputs } = step;
  const frame = run.frames[depth];
  if (!frame || (depth > 0 && !frame.constraints)) return undefined;
  const constraints = constraintsOf(run, frame);
  if (frame.iterations >= constraints.max_iterations) return 'iteration_limit';
  const usage = depth === 0 ? run.usage : frame.usage;
  const { customCheckers } = step.deps;
  const verdict = await checkLlmCall({ constraints, policies: inputs.policies, usage, state: run.guard, customCheckers });
  run.guard = verdict.state;
  if (verdict.decision === 'ALLOW') return undefined;
  emit(step, 'guard.decision', { ...verdict.event, frame: frame.namespace });
  return verdict.checker === BUDGET ? 'budget_exceeded' : { denied: `the guard denied an LLM call: ${verdict.reason}` };
}

const wordsOf = (limit: Limit): string => (typeof limit === 'string' ? limit : limit.denied);

async function finishAtLimit(step: Step, outcome: Limit): Promise<void> {
  if (typeof outcome !== 'string') return finishRun(step, { outcome: 'error', error: { code: 'GUARD_DENIED', message: outcome.denied } });
  const frame = topFrame(step.run);
  if (frame.kind === 'agent' && !step.asked && agentOf(step.deps, frame).on_limit === 'summarize') {
    const asked = await askModel(step, frame, true);
    if (asked.kind === 'answer') return finishRun(step, { outcome, answer: asked.text });
  }
  return finishRun(step, { outcome });
}

/** Ends the child whose own `timeout` is over, and what lies on it (design 3.6): active time since it was pushed, as for the run. */
export async function endLateFrames(step: Step): Promise<void> {
  const late = step.run.frames.findIndex(
    ({ since, constraints }) => since !== undefined && constraints && activeMs(step) - since >= constraints.timeout,
  );
  const frame = step.run.frames[late];
  if (!frame) return;
  while (step.run.frames.length > late + 1) await failedFrame(step, 'CANCELLED', 'a frame below ended: timeout');
  await failedFrame(step, 'RESOURCE_EXHAUSTED', `${frame.namespace} reached its limit: timeout`);
}

/**
 * Fails the `timeout` nodes of every tree of the stack whose active time is over (design 8): what lies above such a node
 * is taken off, what it has not dispatched is answered. Calls in flight are never interrupted; none is here.
 */
export async function expireTreeTimeouts(step: Step): Promise<void> {
  for (let depth = 0; depth < step.run.frames.length; depth++) {
    const frame = step.run.frames[depth];
    if (frame?.kind !== 'tree') continue;
    const { state, expired } = expireTimeouts(treeOf(step, frame), frame.state, activeMs(step));
    frame.state = state;
    const under = (path: string | undefined): boolean =>
      path !== undefined && expired.some((node) => path === node || path.startsWith(`${node}/`));
    if (under(step.run.frames[depth + 1]?.path))
      while (step.run.frames.length > depth + 1) await failedFrame(step, 'TIMEOUT', 'a timeout of the tree below is over');
    closeUnder(step, frame, under);
  }
}

function closeUnder(step: Step, frame: TreeFrame, under: (path: string | undefined) => boolean): void {
  for (const call of openCalls(frame))
    if (under(call.path))
      observe(step, frame, call, refuse(step, call, new HandrailError('TIMEOUT', 'the timeout over this node ended before it ran')));
  closeBatch(frame);
}
