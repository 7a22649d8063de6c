import { deniedTools } from '../guard/preflight.ts';
import type { ToolDefinition } from '../hands/define-tool.ts';
import { SKILL } from '../limits.ts';
import type { ModelReply } from '../ports/model.ts';
import { promptWithSkills } from '../skills/prompt.ts';
import { narrowTools } from '../skills/select.ts';
import type { Skill } from '../skills/skill.ts';
import { openBatch } from './batch.ts';
import { BUILT_IN } from './built-in.ts';
import { LOAD_SKILL } from './built-ins/load-skill.ts';
import { RUN_BT_SKILL } from './built-ins/run-bt-skill.ts';
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
  const { registry, skills } = step.deps;
  const listed = registry.getAll().filter((tool) => tools === undefined || tools.includes(tool.name));
  const narrowed = narrowTools(listed, chosenSkills(step, frame), (name) => registry.resolve(name));
  // What touches nothing outside the run is left to an agent whatever its skills say.
  const mine = listed
    .filter((tool) => narrowed.includes(tool) || tool.category === BUILT_IN)
    .filter((tool) => tool.name !== LOAD_SKILL || skills?.skills.length);
  const denied = deniedTools(mine, constraintsOf(step.run, frame), step.inputs.policies);
  return mine.filter((tool) => !denied.has(tool.name));
}

/** Skills chosen for a frame that are still deployed. */
function chosenSkills(step: Step, frame: AgentFrame): Skill[] {
  return (frame.skills ?? []).flatMap((name) => step.deps.skills?.skills.find((skill) => skill.name === name) ?? []);
}

/** The agent's own prompt, what its skills say, and which others there are where it can load them. */
function systemPrompt(step: Step, frame: AgentFrame, tools: readonly ToolDefinition[]): string {
  const chosen = chosenSkills(step, frame);
  const skills = step.deps.skills?.skills ?? [];
  const has = (name: string): boolean => tools.some((tool) => tool.name === name);
  // Handlers are tools, with a description of their own.
  const others = has(LOAD_SKILL) ? skills.filter((skill) => skill.kind === 'prompt' && !chosen.includes(skill)) : [];
  const trees = has(RUN_BT_SKILL) ? skills.filter((skill) => skill.kind === 'tree') : [];
  return promptWithSkills(agentOf(step.deps, frame).system, { chosen, others, trees }, SKILL).text;
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
    system: systemPrompt(step, frame, tools),
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
