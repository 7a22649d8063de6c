import type { AgentConfig } from '../config.ts';
import type { ModelReply, ModelRequest } from '../ports/model.ts';
import { maskSecrets } from '../preview.ts';
import { emit, type Step, topFrame } from './step.ts';
import { addUsage, type Usage } from './usage.ts';

/** ms one LLM call may take, its retries included; shorter than the reason λ lives. */
const MODEL_TIMEOUT_MS = 240_000;
/** Characters per token where a provider reports no usage: low, so that a budget errs on the safe side. */
const CHARACTERS_PER_TOKEN = 3;

/** A failure of the LLM that outlived its retries is data, not an error (design 3.2.7). */
export type Called = { readonly reply: ModelReply } | { readonly failed: string };

/** The one LLM call of this step, counted in the top frame and in every frame below it. */
export async function callModel(step: Step, agent: AgentConfig, request: Omit<ModelRequest, 'signal'>): Promise<Called> {
  const { deps, run } = step;
  step.asked = true;
  for (const frame of run.frames) frame.iterations += 1;
  const { iterations: iteration, namespace } = topFrame(run);
  const began = deps.clock.now();
  const whole: ModelRequest = { ...request, signal: AbortSignal.timeout(MODEL_TIMEOUT_MS) };
  let modelId = agent.model;
  try {
    const model = await deps.model(agent);
    modelId = model.id;
    const reply = await model.generate(whole);
    const duration = deps.clock.now() - began;
    run.timings.modelMs += duration;
    const usage = usageOf(step, modelId, reply, whole);
    run.usage = addUsage(run.usage, usage);
    for (const frame of run.frames) frame.usage = addUsage(frame.usage, usage);
    emit(step, 'llm.call.completed', {
      model: modelId,
      iteration,
      frame: namespace,
      duration,
      finish: reply.finish,
      calls: reply.calls.length,
      ...usage,
    });
    return { reply };
  } catch (error) {
    // A provider may repeat the key, and what it was sent. Masked before it is cut: half a secret is none that is known.
    const message = maskSecrets(error instanceof Error ? error.message : String(error));
    run.timings.modelMs += deps.clock.now() - began;
    emit(step, 'llm.call.failed', { model: modelId, iteration, frame: namespace, error: message.slice(0, 500) });
    return { failed: `the model ${modelId} failed: ${message.slice(0, 1000)}` };
  }
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
