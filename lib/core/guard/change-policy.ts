import { HandrailError } from '../errors.ts';
import { jsonBytes } from '../json.ts';
import { POLICY_BYTES } from '../limits.ts';
import type { Clock } from '../ports/clock.ts';
import type { GuardStore } from '../ports/guard-store.ts';
import type { GuardConstraints } from './constraints.ts';
import { DEPLOYMENT, type LivePolicy } from './policy.ts';

/** Whose policy: the caller's tenant's, or that of the whole deployment. */
export type PolicyScope = 'tenant' | 'deployment';

export interface PolicyDeps {
  readonly guard: Pick<GuardStore, 'getPolicy' | 'putPolicy' | 'keepPolicy'>;
  readonly clock: Pick<Clock, 'now'>;
  /** The tenant that may change the deployment's policy; undefined = none may. */
  readonly operatorTenant: string | undefined;
}

export interface PolicyChange {
  readonly tenant: string;
  readonly principal: string;
  readonly scope: PolicyScope;
  /** The version that the caller has seen; 0 = none. */
  readonly version: number;
  /** What holds from now on, whole: what is left out returns to the deployed value. */
  readonly guard: GuardConstraints;
}

/** Under which name the policy of a scope is kept. */
export function policyOwner(scope: PolicyScope, tenant: string): string {
  return scope === 'deployment' ? DEPLOYMENT : tenant;
}

/**
 * Changes the live policy (design 5.4); every run goes by it from its next preflight on. The version that it replaces is
 * kept first, with who made it and when, so that the trail has no gap however this ends.
 * Errors: FORBIDDEN (the deployment's, by another tenant), CONFLICT with the version that stands, PAYLOAD_TOO_LARGE.
 */
export async function changePolicy(deps: PolicyDeps, change: PolicyChange): Promise<LivePolicy> {
  if (change.scope === 'deployment' && change.tenant !== deps.operatorTenant)
    throw new HandrailError('FORBIDDEN', 'only the tenant of the operator may change the policy of the deployment', { field: 'scope' });
  if (jsonBytes(change.guard) > POLICY_BYTES)
    throw new HandrailError('PAYLOAD_TOO_LARGE', `a policy has at most ${POLICY_BYTES} bytes`, { field: 'guard' });
  const owner = policyOwner(change.scope, change.tenant);
  const current = await deps.guard.getPolicy(owner);
  if ((current?.version ?? 0) !== change.version) throw changed(current?.version ?? 0);
  if (current) await deps.guard.keepPolicy(owner, current);
  const next: LivePolicy = {
    v: 1,
    version: change.version + 1,
    guard: change.guard,
    updatedAt: deps.clock.now(),
    updatedBy: change.principal,
  };
  if (await deps.guard.putPolicy(owner, next)) return next;
  throw changed((await deps.guard.getPolicy(owner))?.version ?? 0);
}

const changed = (version: number): HandrailError =>
  new HandrailError('CONFLICT', `the policy has been changed meanwhile: it stands at version ${version}`, { extra: { version } });
