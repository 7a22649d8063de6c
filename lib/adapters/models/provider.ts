import type { ModelConfig } from '../../core/config.ts';
import type { Clock, Random } from '../../core/ports/clock.ts';
import type { Model } from '../../core/ports/model.ts';

/** What a provider may need beyond its configuration. */
export interface ModelContext {
  readonly clock: Clock;
  readonly random: Random;
  /** Key of the provider: from the environment, or the named secret. Undefined when there is none. */
  apiKey(secretName: string | undefined): Promise<string | undefined>;
  /** Text of a file named in the configuration. */
  readText(path: string): Promise<string>;
  readonly region: string | undefined;
  /** Credentials of the machine or of the function's role. */
  awsCredentials(): Promise<{ accessKeyId: string; secretAccessKey: string; sessionToken?: string }>;
}

export type ModelProvider<Name extends ModelConfig['provider']> = (
  config: Extract<ModelConfig, { provider: Name }>,
  context: ModelContext,
) => Promise<Model>;
