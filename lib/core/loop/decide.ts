import { askModel } from './ask.ts';
import { dispatch } from './dispatch.ts';
import { finishRun } from './finish.ts';
import { stopAtLimit } from './frame-limits.ts';
import { endFrame, failedFrame } from './frame-stack.ts';
import type { AgentFrame } from './frames.ts';
import { openCalls, type Step, setPlan, topFrame } from './step.ts';
import { advanceTree } from './tree-frame.ts';

/** Lets the top frame decide, and whichever frame is on top after it, until there is a plan (design 3.2.3 to 9). */
export async function decide(step: Step): Promise<void> {
  while (!step.run.plan) {
    const frame = topFrame(step.run);
    if (openCalls(frame).length > 0) await dispatch(step);
    else if (frame.kind === 'tree') await advanceTree(step, frame);
    else if (step.asked) setPlan(step, { next: 'reason' });
    else await think(step, frame);
  }
}

/** Nothing of an agent is open: the LLM's turn, unless a limit has been reached. */
async function think(step: Step, frame: AgentFrame): Promise<void> {
  if (await stopAtLimit(step)) return;
  const asked = await askModel(step, frame, false);
  switch (asked.kind) {
    case 'answer':
      return endAgent(step, frame, asked.text);
    case 'failed':
      return step.run.frames.length > 1
        ? failedFrame(step, 'SERVICE_UNAVAILABLE', asked.message, frame.untrusted)
        : finishRun(step, { outcome: 'error', error: { code: 'SERVICE_UNAVAILABLE', message: asked.message } });
    case 'loop':
      return step.run.frames.length > 1
        ? failedFrame(step, 'LOOP_DETECTED', 'it kept asking for what gives the same result')
        : finishRun(step, { outcome: 'loop' });
    case 'calls':
      return;
  }
}

async function endAgent(step: Step, frame: AgentFrame, answer: string): Promise<void> {
  if (step.run.frames.length === 1) return finishRun(step, { outcome: 'completed', answer });
  const metadata = { toolName: frame.agent, duration: 0, truncated: false, timestamp: step.deps.clock.now() };
  return endFrame(step, { success: true, data: answer, metadata }, frame.untrusted ?? false);
}
