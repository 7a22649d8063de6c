import type { ApprovalContext, Checker, Decision, GuardContext } from '../decision.ts';
import type { GuardSettings } from './settings.ts';

export const CONFIRM = 'confirm';

/**
 * Seed 003, ConfirmChecker, always last. Nothing asked for: ALLOW. A person approved this very call (same hash): ALLOW,
 * and the mark is cleared. Else the person is asked (PENDING), or `confirm_default` decides.
 */
export function confirmChecker({ confirmDefault, approvals }: GuardSettings): Checker {
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
      return approvals ? askManager(approvals, tool, approval) : pending(approval);
    },
    reset: () => undefined,
  };
}

function pending(approval: ApprovalContext): [Decision, string] {
  approval.progressState = 'pending';
  approval.result = 'pending';
  return ['PENDING', 'a person must decide'];
}

/** Seed 003, ConfirmChecker, steps 3 to 7. The request is known by the hash of the call, so an approval fits no other. */
async function askManager(
  approvals: NonNullable<GuardSettings['approvals']>,
  tool: NonNullable<GuardContext['tool']>,
  approval: ApprovalContext,
): Promise<[Decision, string]> {
  const requestId = tool.hash;
  approval.requestId = requestId;
  const asked = { requestId, name: tool.name, arguments: tool.args, sessionId: tool.sessionId, nodePath: tool.nodePath };
  const { outcome, reason, by } =
    (await approvals.popResolved(requestId)) ??
    (await approvals.confirmTool({ ...asked, reason: approval.reason ?? 'a person must decide' }));
  if (outcome === 'pending') return pending(approval);
  approval.progressState = outcome;
  approval.result = outcome;
  const who = by ?? 'a person';
  if (outcome === 'rejected') return ['DENY', `${who} rejected it${reason === undefined ? '' : `: ${reason}`}`];
  approval.approvedHash = requestId;
  approval.needsConfirm = false;
  return ['ALLOW', `${who} approved it`];
}
