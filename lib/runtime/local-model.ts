import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Config, ModelConfig } from '../core/config.ts';
import { HandrailError } from '../core/errors.ts';
import { costLimitPath, unpriced } from '../core/guard/prices.ts';
import { DEFAULT_BEDROCK_MODEL } from '../manifest.ts';

/** Where the demo's files lie; its script is the one the `scripted` model plays without a key. */
export const DEMO_DIRECTORY = join(dirname(fileURLToPath(import.meta.url)), 'demo');

const OLLAMA_URL = 'http://127.0.0.1:11434';
const OLLAMA_PROBE_MS = 200;
const DEFAULT_MODELS = {
  anthropic: 'claude-sonnet-4-5',
  openai: 'gpt-5-mini',
  bedrock: DEFAULT_BEDROCK_MODEL,
} as const;

export interface LocalModelChoice {
  readonly model: ModelConfig;
  /** Why this one, for people. */
  readonly because: string;
  /** The scripted demo: each session gets its file of sales. */
  readonly demo: boolean;
}

/** The parts of the environment that choose an LLM on a laptop. Their values are never shown. */
export interface ModelEnvironment {
  readonly HANDRAIL_MODEL?: string | undefined;
  readonly ANTHROPIC_API_KEY?: string | undefined;
  readonly OPENAI_BASE_URL?: string | undefined;
  readonly OPENAI_API_KEY?: string | undefined;
  readonly AWS_ACCESS_KEY_ID?: string | undefined;
  readonly AWS_PROFILE?: string | undefined;
  readonly AWS_REGION?: string | undefined;
}

const demo = (because: string): LocalModelChoice => ({
  model: { provider: 'scripted', model: 'demo', script: join(DEMO_DIRECTORY, 'demo.yaml') },
  because,
  demo: true,
});

/**
 * The LLM of a laptop: the configuration's, else what the environment has a key for, else an Ollama that answers, else
 * the scripted demo (design section 10). `HANDRAIL_MODEL` names the model, or `demo`.
 */
export async function chooseLocalModel(config: Config, env: ModelEnvironment): Promise<LocalModelChoice> {
  if (env.HANDRAIL_MODEL === 'demo') return demo('HANDRAIL_MODEL=demo');
  const configured = config.models['default'];
  if (configured) return { model: configured, because: 'models.default of the configuration', demo: false };
  const named = (fallback: string): string => env.HANDRAIL_MODEL ?? fallback;
  const limits = { max_output_tokens: 4096 };
  if (env.ANTHROPIC_API_KEY)
    return {
      model: { provider: 'anthropic', model: named(DEFAULT_MODELS.anthropic), ...limits },
      because: 'ANTHROPIC_API_KEY is set',
      demo: false,
    };
  if (env.OPENAI_BASE_URL || env.OPENAI_API_KEY)
    return {
      model: {
        provider: 'openai-compatible',
        model: named(DEFAULT_MODELS.openai),
        base_url: env.OPENAI_BASE_URL ?? 'https://api.openai.com/v1',
        ...limits,
      },
      because: env.OPENAI_BASE_URL ? 'OPENAI_BASE_URL is set' : 'OPENAI_API_KEY is set',
      demo: false,
    };
  if (env.AWS_ACCESS_KEY_ID || env.AWS_PROFILE)
    return {
      model: {
        provider: 'bedrock',
        model: named(DEFAULT_MODELS.bedrock),
        ...(env.AWS_REGION ? { region: env.AWS_REGION } : {}),
        ...limits,
      },
      because: 'AWS credentials are set',
      demo: false,
    };
  const ollama = await firstOllamaModel();
  if (ollama)
    return {
      model: { provider: 'openai-compatible', model: named(ollama), base_url: `${OLLAMA_URL}/v1`, ...limits },
      because: 'Ollama answers on this machine',
      demo: false,
    };
  return demo('no key is set');
}

/** The model of a laptop is chosen by the environment, after the configuration has been read. */
export function refuseUnpriced(config: Config, modelId: string): void {
  const problem = unpriced(config, modelId);
  const path = Object.keys(config.agents)
    .map((name) => costLimitPath(config, name))
    .find((found) => found !== undefined);
  if (problem !== undefined && path) throw new HandrailError('BAD_REQUEST', `${path.join('.')}: ${problem}`, { field: path.join('.') });
}

async function firstOllamaModel(): Promise<string | undefined> {
  try {
    const response = await fetch(`${OLLAMA_URL}/api/tags`, { signal: AbortSignal.timeout(OLLAMA_PROBE_MS) });
    const body: unknown = await response.json();
    const models = typeof body === 'object' && body !== null && 'models' in body && Array.isArray(body.models) ? body.models : [];
    const first: unknown = models[0];
    return typeof first === 'object' && first !== null && 'name' in first && typeof first.name === 'string' ? first.name : undefined;
  } catch {
    return undefined;
  }
}
