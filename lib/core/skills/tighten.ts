import { type Constraints, type MergedConstraints, mergeConstraints, policyLayer } from '../guard/constraints.ts';

/** Settings of which the first that declares one decides: a skill that comes later has a say only where nobody had. */
const FIRST_DECLARED = ['max_messages', 'history_limit'] as const;

/**
 * A run's constraints with those of a skill that is brought in while it runs (design 5.4): the same rules as at the start, so
 * that loading a skill holds to it no less than choosing it. The same skill again changes nothing.
 */
export function tightened(merged: MergedConstraints, constraints: Constraints): MergedConstraints {
  const own = { ...constraints };
  for (const key of FIRST_DECLARED) if (!['default', 'app'].includes(merged.origins[key] ?? 'default')) delete own[key];
  const { tool_policy: policy, ...limits } = merged.guard;
  const { max_iterations, timeout, max_messages, history_limit, execution } = merged;
  const next = mergeConstraints([
    {
      layer: 'app',
      constraints: { max_iterations, timeout, max_messages, history_limit, guard: limits, execution },
    },
    { layer: 'skill', constraints: own },
  ]);
  const added = policyLayer('skill', constraints.guard).filter(
    (layer) => !policy.some((known) => JSON.stringify(known) === JSON.stringify(layer)),
  );
  return {
    ...next,
    guard: { ...next.guard, tool_policy: [...policy, ...added] },
    origins: Object.fromEntries(
      Object.entries(next.origins).map(([key, layer]) => [key, layer === 'app' ? (merged.origins[key] ?? layer) : layer]),
    ),
  };
}
