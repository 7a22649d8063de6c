import * as z from 'zod';
import { type Budget, type MergedConstraints, policyLayer, storedGuardSchema, strictestFlowMode } from './constraints.ts';

/** Policy that an operator changes while runs run (design 5.4): it only tightens. `version` is the ETag. */
export const livePolicySchema = z.object({
  v: z.literal(1),
  version: z.int(),
  guard: storedGuardSchema,
  updatedAt: z.number(),
  updatedBy: z.string(),
});
export type LivePolicy = z.infer<typeof livePolicySchema>;

/** Key of the deployment-wide policy; `*` is no tenant's name. */
export const DEPLOYMENT = '*';

/**
 * What holds at this moment: the run's constraints with the live policies as further layers (design 5.4). They only
 * tighten, so the order of `policies` does not matter.
 */
export function withLivePolicy(merged: MergedConstraints, policies: readonly LivePolicy[]): MergedConstraints {
  let { flow, max_tool_calls } = merged.guard;
  const budget = { ...merged.guard.budget };
  const origins = { ...merged.origins };
  for (const { guard } of policies) {
    if (guard.flow !== undefined && strictestFlowMode(flow, guard.flow) !== flow) {
      flow = guard.flow;
      origins['guard.flow'] = LIVE_LAYER;
    }
    if (tightens(guard.max_tool_calls, max_tool_calls)) {
      max_tool_calls = guard.max_tool_calls;
      origins['guard.max_tool_calls'] = LIVE_LAYER;
    }
    for (const key of Object.keys(budget) as (keyof Budget & keyof typeof budget)[]) {
      const limit = guard.budget?.[key];
      if (!tightens(limit, budget[key])) continue;
      budget[key] = limit;
      origins[`guard.budget.${key}`] = LIVE_LAYER;
    }
  }
  const tool_policy = [...merged.guard.tool_policy, ...policies.flatMap((policy) => policyLayer(LIVE_LAYER, policy.guard))];
  return { ...merged, guard: { tool_policy, max_tool_calls, budget, flow }, origins };
}

/** Null is no limit, and so is a policy that says nothing. */
function tightens(limit: number | null | undefined, current: number | null): limit is number {
  return limit !== undefined && limit !== null && (current === null || !(limit >= current));
}

/** Name of the live policy where layers are named. */
const LIVE_LAYER = 'policy';
