import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { fromLanguageModel } from './language-model.ts';
import type { ModelProvider } from './provider.ts';

/** Any server that speaks OpenAI's chat completions: OpenAI, Ollama, vLLM, LM Studio. A key only where it wants one. */
export const openaiCompatible: ModelProvider<'openai-compatible'> = async (config, context) => {
  const apiKey = await context.apiKey(config.api_key_secret);
  const provider = createOpenAICompatible({ name: 'openai', baseURL: config.base_url, ...(apiKey ? { apiKey } : {}) });
  return fromLanguageModel(provider(config.model), {
    id: `openai-compatible/${config.model}`,
    maxOutputTokens: config.max_output_tokens,
    temperature: config.temperature,
    apiKey,
    historyAsText: false,
    clock: context.clock,
    random: context.random,
  });
};
