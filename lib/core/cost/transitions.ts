import { unreachable } from '../errors.ts';
import type { CallFailure } from '../hands/call.ts';
import type { Plan } from '../loop/plan.ts';
import { RETRY_COUNTS, retryErrorName } from '../machine/loop.ts';

/**
 * States that a committed plan takes the execution through, the Reason that made it included (design 3.1, "Transitions").
 * What a plan cannot know, retries and caught failures of its calls, is counted when their results come: `failureTransitions`.
 */
export function planTransitions(plan: Plan): number {
  const reasonAndRoute = 2;
  switch (plan.next) {
    case 'reason':
      return reasonAndRoute;
    case 'act':
      return reasonAndRoute + 1 + plan.calls.length;
    case 'suspend':
    case 'wait':
    case 'finish':
      return reasonAndRoute + 1;
    case 'continue':
      // The execution that hands over still ends: Continue, then Finish.
      return reasonAndRoute + 2;
    default:
      return unreachable(plan);
  }
}

/** What a failed call took beyond its Invoke: the state that caught it, and before `Exhausted` every retry its error's name stands for. */
export function failureTransitions({ Error: name }: CallFailure['error']): number {
  const retries = RETRY_COUNTS.find((count) => retryErrorName(count) === name) ?? 0;
  return 1 + retries;
}
