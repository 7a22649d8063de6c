import * as z from 'zod';
import { guardConstraintsSchema, type MergedConstraints, policyLayer, strictestFlowMode } from './constraints.ts';

/** Policy that an operator changes while runs run (design 5.4): it only tightens. `version` is the ETag. */
export const livePolicySchema = z.object({
  v: z.literal(1),
  version: z.int(),
  guard: guardConstraintsSchema.pick({ tool_policy: true, default_policy: true, flow: true }),
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
  let { flow } = merged.guard;
  const origins = { ...merged.origins };
  for (const policy of policies) {
    if (policy.guard.flow === undefined || strictestFlowMode(flow, policy.guard.flow) === flow) continue;
    flow = policy.guard.flow;
    origins['guard.flow'] = LIVE_LAYER;
  }
  const live = policies.flatMap((policy) => policyLayer(LIVE_LAYER, policy.guard));
  return { ...merged, guard: { ...merged.guard, flow, tool_policy: [...merged.guard.tool_policy, ...live] }, origins };
}

/** Name of the live policy where layers are named. */
const LIVE_LAYER = 'policy';
