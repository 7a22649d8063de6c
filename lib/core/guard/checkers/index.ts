import type { Checker } from '../decision.ts';
import { budgetChecker } from './budget.ts';
import { confirmChecker } from './confirm.ts';
import { flowChecker } from './flow.ts';
import { rateLimitChecker } from './rate-limit.ts';
import type { GuardSettings } from './settings.ts';
import { toolPolicyChecker } from './tool-policy.ts';

/**
 * The checkers of one preflight in their order (design 5.1); a line's place is its order. All are always there, since a
 * live policy may need any of them. Custom ones come before confirm: nobody is asked about what will be denied.
 */
export function checkersInOrder(settings: GuardSettings, custom: readonly Checker[] = []): Checker[] {
  return [
    toolPolicyChecker(settings),
    rateLimitChecker(settings),
    budgetChecker(settings),
    flowChecker(settings),
    ...custom,
    confirmChecker(settings),
  ];
}
