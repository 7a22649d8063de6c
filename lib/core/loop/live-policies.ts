import type { LivePolicy } from '../guard/policy.ts';
import { POLICY_AGE_MS } from '../limits.ts';
import type { Step } from './step.ts';

/**
 * The live policies as of this moment, give or take {@link POLICY_AGE_MS}: the LLM may have taken minutes since the step
 * read them, and a kill switch that was set meanwhile holds for what it asks for (design 5.4). A fast step reads nothing more.
 */
export async function currentPolicies(step: Step): Promise<readonly LivePolicy[]> {
  const { deps, run, inputs } = step;
  const now = deps.clock.now();
  if (now - step.policiesAt > POLICY_AGE_MS) {
    Object.assign(inputs, { policies: await deps.guard.getPolicies(run.tenant) });
    step.policiesAt = now;
  }
  return inputs.policies;
}
