import { createAmazonBedrock } from '@ai-sdk/amazon-bedrock';
import { fetchFillingUsage, fromLanguageModel } from './language-model.ts';
import type { ModelProvider } from './provider.ts';

/** Amazon Bedrock's Converse API with the credentials of the machine or of the function's role. */
export const bedrock: ModelProvider<'bedrock'> = async (config, context) => {
  const region = config.region ?? context.region;
  const provider = createAmazonBedrock({
    ...(region ? { region } : {}),
    ...(config.base_url ? { baseURL: config.base_url } : {}),
    fetch: fetchFillingUsage(['inputTokens', 'outputTokens', 'totalTokens']),
    credentialProvider: context.awsCredentials,
  });
  return fromLanguageModel(provider(config.model), {
    id: `bedrock/${config.model}`,
    maxOutputTokens: config.max_output_tokens,
    temperature: config.temperature,
    historyAsText: true,
    clock: context.clock,
    random: context.random,
  });
};
