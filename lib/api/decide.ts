import { parseApprovalId } from '../core/ids.ts';
import type { ApiServices, DecideRequest } from './services.ts';

/** Makes the decisions, all of one suspension, and tells the audit who did. Errors: those of `ApiServices.decide`. */
export async function decideAudited(services: ApiServices, request: DecideRequest): Promise<void> {
  await services.decide(request);
  const { tenant, principal, how, decisions } = request;
  services.audit({
    tenant,
    by: principal,
    action: 'approval.decide',
    run: parseApprovalId(decisions[0]?.approvalId ?? '')?.runId ?? '',
    how,
    decisions: decisions.map((one) => `${one.approvalId} ${one.arguments === undefined ? one.decision : 'edit'}`),
  });
}
