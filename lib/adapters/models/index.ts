import type { ModelConfig } from '../../core/config.ts';
import type { Model } from '../../core/ports/model.ts';
import { anthropic } from './anthropic.ts';
import { bedrock } from './bedrock.ts';
import { openaiCompatible } from './openai-compatible.ts';
import type { ModelContext, ModelProvider } from './provider.ts';
import { scripted } from './scripted.ts';

/** Every model provider, by its word in the configuration. */
export const providers: { readonly [Name in ModelConfig['provider']]: ModelProvider<Name> } = {
  bedrock,
  anthropic,
  'openai-compatible': openaiCompatible,
  scripted,
};

/** The LLM that a configuration names. Errors: BAD_REQUEST when its key or script is missing. */
export function createModel(config: ModelConfig, context: ModelContext): Promise<Model> {
  const create = providers[config.provider] as (config: ModelConfig, context: ModelContext) => Promise<Model>;
  return create(config, context);
}
