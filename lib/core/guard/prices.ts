import type { AgentConfig, Config } from '../config.ts';

/** The id under which `prices` knows the model of an agent; undefined when the configuration does not name it. */
export function modelIdOf(config: Pick<Config, 'models'>, agent: Pick<AgentConfig, 'model'>): string | undefined {
  const model = Object.hasOwn(config.models, agent.model) ? config.models[agent.model] : undefined;
  return model && `${model.provider}/${model.model}`;
}

/** A model without a price costs nothing, and a budget in USD would never hold: better to say so than to run. */
export function unpriced(config: Pick<Config, 'prices'>, modelId: string | undefined): string | undefined {
  if (modelId === undefined || Object.hasOwn(config.prices, modelId)) return undefined;
  return `there is no price of ${modelId} in "prices", so its calls would cost nothing and a budget in USD would never hold`;
}

/** Where the configuration limits cost for an agent; undefined where it does not. */
export function costLimitPath(config: Pick<Config, 'constraints' | 'agents'>, agentName: string): readonly string[] | undefined {
  const limit = ['constraints', 'guard', 'budget', 'cost_usd'] as const;
  if (typeof config.agents[agentName]?.constraints.guard?.budget?.cost_usd === 'number') return ['agents', agentName, ...limit];
  return typeof config.constraints.guard?.budget?.cost_usd === 'number' ? limit : undefined;
}
