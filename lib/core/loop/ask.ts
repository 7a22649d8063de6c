import { deniedTools } from '../guard/preflight.ts';
import type { ToolDefinition } from '../hands/define-tool.ts';
import type { ModelReply } from '../ports/model.ts';
import { openBatch } from './batch.ts';
import type { AgentFrame } from './frames.ts';
import { callModel } from './llm.ts';
import { buildPrompt } from './prompt.ts';
import { agentOf, constraintsOf, type Step, say, transcript } from './step.ts';

const CUT_NOTE = "[The answer was cut at the model's output limit.]";

/** What one LLM call came to. `loop`: it asked again for what keeps giving the same result. */
export type Asked = { kind: 'answer'; text: string } | { kind: 'calls' } | { kind: 'loop' } | { kind: 'failed'; message: string };

/** Tools that the agent may use and that policy does not rule out: what the LLM is shown. */
export function visibleTools(step: Step, frame: AgentFrame): ToolDefinition[] {
  const { tools } = agentOf(step.deps, frame);
  const mine = step.deps.registry.getAll().filter((tool) => tools === undefined || tools.includes(tool.name));
  const denied = deniedTools(mine, constraintsOf(step.run, frame), step.inputs.policies);
  return mine.filter((tool) => !denied.has(tool.name));
}

/**
 * One LLM call of an agent frame. Its answer ends the frame, or its tool calls become the open batch.
 * `last`: tools are forbidden, whatever comes back is the answer (`on_limit: summarize`).
 */
export async function askModel(step: Step, frame: AgentFrame, last: boolean): Promise<Asked> {
  const { deps, run } = step;
  const tools = visibleTools(step, frame);
  const agent = agentOf(deps, frame);
  const called = await callModel(step, agent, {
    system: agent.system,
    messages: buildPrompt(await transcript(step, frame), frame.task ?? run.input, constraintsOf(run, frame).max_messages),
    tools: deps.registry.toolsForModel().filter((tool) => tools.some((mine) => mine.name === tool.name)),
    toolChoice: last ? 'none' : 'auto',
  });
  if ('failed' in called) return { kind: 'failed', message: called.failed };
  return takeReply(step, frame, called.reply, last, tools);
}

function takeReply(step: Step, frame: AgentFrame, reply: ModelReply, last: boolean, tools: readonly ToolDefinition[]): Asked {
  if (reply.calls.length === 0 || last) {
    if (reply.finish === 'refusal' && reply.text === '') return { kind: 'failed', message: 'the model declined to answer' };
    const text = reply.finish === 'length' ? `${reply.text}\n\n${CUT_NOTE}` : reply.text;
    say(step, frame, { role: 'assistant', text: text.toWellFormed(), calls: [] });
    return { kind: 'answer', text: text.toWellFormed() };
  }
  return openBatch(step, frame, reply, tools) === 'loop' ? { kind: 'loop' } : { kind: 'calls' };
}
