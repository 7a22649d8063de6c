import { deniedTools } from '../guard/preflight.ts';
import type { ToolDefinition } from '../hands/define-tool.ts';
import type { ModelReply, ModelRequest } from '../ports/model.ts';
import { openBatch } from './batch.ts';
import type { AgentFrame } from './frames.ts';
import { buildPrompt } from './prompt.ts';
import { agentOf, emit, type Step, say, topFrame, transcript } from './step.ts';
import { addUsage, type Usage } from './usage.ts';

/** ms one LLM call may take, its retries included; shorter than the reason λ lives. */
const MODEL_TIMEOUT_MS = 240_000;
const CUT_NOTE = "[The answer was cut at the model's output limit.]";
/** Characters per token where a provider reports no usage: low, so that a budget errs on the safe side. */
const CHARACTERS_PER_TOKEN = 3;

/** What one LLM call came to. `loop`: it asked again for what keeps giving the same result. */
export type Asked = { kind: 'answer'; text: string } | { kind: 'calls' } | { kind: 'loop' } | { kind: 'failed'; message: string };

/** Tools that the agent may use and that policy does not rule out: what the LLM is shown. */
export function visibleTools(step: Step, frame: AgentFrame): ToolDefinition[] {
  const { tools } = agentOf(step.deps, frame);
  const mine = step.deps.registry.getAll().filter((tool) => tools === undefined || tools.includes(tool.name));
  const denied = deniedTools(mine, step.run.constraints, step.inputs.policies);
  return mine.filter((tool) => !denied.has(tool.name));
}

/**
 * One LLM call of the top frame. Its answer finishes the run, or its tool calls become the open batch.
 * `last`: tools are forbidden, whatever comes back is the answer (`on_limit: summarize`).
 */
export async function askModel(step: Step, last: boolean): Promise<Asked> {
  const frame = topFrame(step.run);
  const { deps, run } = step;
  const tools = visibleTools(step, frame);
  const agent = agentOf(deps, frame);
  const request: ModelRequest = {
    system: agent.system,
    messages: buildPrompt(await transcript(step), run.input, run.constraints.max_messages),
    tools: deps.registry.toolsForModel().filter((tool) => tools.some((mine) => mine.name === tool.name)),
    toolChoice: last ? 'none' : 'auto',
    signal: AbortSignal.timeout(MODEL_TIMEOUT_MS),
  };
  const began = deps.clock.now();
  let reply: ModelReply;
  let modelId = agent.model;
  frame.iterations += 1;
  try {
    const model = await deps.model(agent);
    modelId = model.id;
    reply = await model.generate(request);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    run.timings.modelMs += deps.clock.now() - began;
    emit(step, 'llm.call.failed', { model: modelId, iteration: frame.iterations, error: message.slice(0, 500) });
    return { kind: 'failed', message: `the model ${modelId} failed: ${message.slice(0, 1000)}` };
  }
  const duration = deps.clock.now() - began;
  run.timings.modelMs += duration;
  const usage = usageOf(step, modelId, reply, request);
  run.usage = addUsage(run.usage, usage);
  for (const counted of run.frames) counted.usage = addUsage(counted.usage, usage);
  emit(step, 'llm.call.completed', {
    model: modelId,
    iteration: frame.iterations,
    duration,
    finish: reply.finish,
    calls: reply.calls.length,
    ...usage,
  });
  return takeReply(step, frame, reply, last, tools);
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

/** Tokens and cost of one LLM call. What the provider did not report is estimated and marked. */
function usageOf(step: Step, modelId: string, reply: ModelReply, request: ModelRequest): Usage {
  const known = (value: number | undefined): value is number => value !== undefined && Number.isFinite(value) && value >= 0;
  const { promptTokens: prompt, completionTokens: completion, totalTokens: total } = reply.usage;
  const estimate = (value: unknown): number => Math.ceil(JSON.stringify(value).length / CHARACTERS_PER_TOKEN);
  const promptTokens = known(prompt) ? prompt : estimate([request.system, request.messages, request.tools]);
  const completionTokens = known(completion) ? completion : estimate([reply.text, reply.calls]);
  const price = step.deps.config.prices[modelId];
  const costUsd = price ? (promptTokens * price.input + completionTokens * price.output) / 1_000_000 : 0;
  const totalTokens = Math.max(known(total) ? total : 0, promptTokens + completionTokens);
  return { promptTokens, completionTokens, totalTokens, costUsd, estimated: !known(prompt) || !known(completion) };
}
