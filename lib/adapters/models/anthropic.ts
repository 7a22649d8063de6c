import { createAnthropic } from '@ai-sdk/anthropic';
import { HandrailError } from '../../core/errors.ts';
import { fetchFillingUsage, fromLanguageModel } from './language-model.ts';
import type { ModelProvider } from './provider.ts';

/** Anthropic's Messages API. */
export const anthropic: ModelProvider<'anthropic'> = async (config, context) => {
  const apiKey = await context.apiKey(config.api_key_secret);
  if (!apiKey)
    throw new HandrailError('BAD_REQUEST', 'the anthropic provider needs a key: set ANTHROPIC_API_KEY, or api_key_secret in AWS');
  const provider = createAnthropic({
    apiKey,
    fetch: fetchFillingUsage(['input_tokens', 'output_tokens']),
    ...(config.base_url ? { baseURL: config.base_url } : {}),
  });
  return fromLanguageModel(provider(config.model), {
    id: `anthropic/${config.model}`,
    maxOutputTokens: config.max_output_tokens,
    temperature: config.temperature,
    apiKey,
    historyAsText: true,
    clock: context.clock,
    random: context.random,
  });
};
