import type { Checker } from '../decision.ts';
import type { GuardSettings } from './settings.ts';

export const CONFIRM = 'confirm';

/**
 * Seed 003, ConfirmChecker, always last. Nothing asked for: ALLOW. A person approved this very call (same hash): ALLOW,
 * and the mark is cleared. Else the person is asked (PENDING), or `confirm_default` decides.
 */
export function confirmChecker({ confirmDefault }: GuardSettings): Checker {
  return {
    name: CONFIRM,
    check: async (action, { tool, approval }) => {
      if (!approval?.needsConfirm) return ['ALLOW', 'nobody need be asked'];
      if (action !== 'tool_call' || !tool) return ['DENY', 'an LLM call cannot wait for a person'];
      if (approval.progressState === 'approved' && approval.approvedHash === tool.hash) {
        approval.needsConfirm = false;
        approval.result = 'approved';
        return ['ALLOW', 'a person approved it'];
      }
      if (confirmDefault === 'allow') {
        approval.needsConfirm = false;
        return ['ALLOW', 'confirm_default allows it'];
      }
      if (confirmDefault === 'deny') return ['DENY', 'confirm_default denies what a person would have to confirm'];
      approval.progressState = 'pending';
      approval.result = 'pending';
      return ['PENDING', 'a person must decide'];
    },
    reset: () => undefined,
  };
}
