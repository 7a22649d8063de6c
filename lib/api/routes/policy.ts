import * as z from 'zod';
import { HandrailError } from '../../core/errors.ts';
import { policyOwner } from '../../core/guard/change-policy.ts';
import { guardConstraintsSchema } from '../../core/guard/constraints.ts';
import { unmatchedRules } from '../../core/guard/named-tools.ts';
import type { LivePolicy } from '../../core/guard/policy.ts';
import { doneBy } from '../audit.ts';
import { pagingShape } from '../paging.ts';
import type { Principal } from '../principal.ts';
import { HttpError } from '../problem.ts';
import { defineRoute } from '../route.ts';
import { schemaNames } from '../schema-names.ts';
import type { ApiServices } from '../services.ts';
import { type PolicyView, policyHistorySchema, type policyVersionSchema, policyViewSchema, scopeShape } from '../views/policy-view.ts';

const policyBody = z
  .strictObject({ guard: guardConstraintsSchema.describe('The policy whole; what it leaves out returns to the deployed value') })
  .register(schemaNames, { id: 'SetPolicy' });

const etag = ({ version }: { version: number }): string => `"${version}"`;

export const getPolicy = defineRoute({
  method: 'get',
  path: '/policy',
  id: 'getPolicy',
  summary: 'The live policy',
  access: 'read',
  query: z.strictObject(scopeShape),
  answer: { status: 200, description: 'As it stands', schema: policyViewSchema },
  etag,
  async handle({ principal, query }, services) {
    const policy = await services.guard.getPolicy(policyOwner(query.scope, principal.tenant));
    return wholeView(policy, principal, query.scope, services);
  },
});

export const putPolicy = defineRoute({
  method: 'put',
  path: '/policy',
  id: 'putPolicy',
  summary: 'Change the live policy: every running run goes by it from its next tool or LLM call on',
  access: 'policy',
  query: z.strictObject(scopeShape),
  body: policyBody,
  answer: { status: 200, description: 'As it stands now', schema: policyViewSchema },
  etag,
  async handle({ principal, query, body, ifMatch }, services) {
    const { tenant } = principal;
    const change = { tenant, principal: principal.principal, scope: query.scope, version: versionIn(ifMatch), guard: body.guard };
    try {
      const policy = await services.changePolicy(change);
      services.audit({ ...doneBy(principal), action: 'policy.change', scope: query.scope, version: policy.version });
      return wholeView(policy, principal, query.scope, services);
    } catch (error) {
      throw error instanceof HandrailError && error.code === 'CONFLICT' ? outdated(error) : error;
    }
  },
});

export const listPolicyHistory = defineRoute({
  method: 'get',
  path: '/policy/history',
  id: 'listPolicyHistory',
  summary: 'Every version of the live policy, newest first: who set it, when, and what it said',
  access: 'policy',
  query: z.strictObject({ ...scopeShape, ...pagingShape }),
  answer: { status: 200, description: 'A page of versions', schema: policyHistorySchema },
  async handle({ principal, query }, services) {
    const { scope, limit, cursor } = query;
    const owner = policyOwner(scope, principal.tenant);
    const kept = await services.guard.listKeptPolicies(owner, { limit, ...(cursor === undefined ? {} : { cursor }) });
    const current = cursor === undefined ? await services.guard.getPolicy(owner) : undefined;
    // The one that stands may have been kept already, by a change that was not carried through.
    const versions = [...(current ? [current] : []), ...kept.items.filter(({ version }) => version !== current?.version)];
    return {
      versions: versions.map((policy) => viewOf(policy, principal, scope, services)),
      ...(kept.cursor === undefined ? {} : { cursor: kept.cursor }),
    };
  },
});

type View = z.infer<typeof policyVersionSchema>;

function wholeView(policy: LivePolicy | undefined, principal: Principal, scope: PolicyView['scope'], services: ApiServices): PolicyView {
  const version = viewOf(policy, principal, scope, services);
  const { deployedGuard: deployed, nonTtyPending } = services;
  return { scope, ...version, deployed, nonTtyPending, warnings: unmatchedRules(version.guard, services.tools()) };
}

/** Who runs the deployment is nobody else's business. */
function viewOf(policy: LivePolicy | undefined, principal: Principal, scope: PolicyView['scope'], services: ApiServices): View {
  if (!policy) return { version: 0, guard: {} };
  const { version, guard, updatedAt, updatedBy } = policy;
  const own = scope === 'tenant' || principal.tenant === services.operatorTenant;
  return { version, guard, updatedAt, ...(own ? { updatedBy } : {}) };
}

/** A tag that we never gave names no version that stands. */
function versionIn(ifMatch: string): number {
  const match = /^"(\d{1,9})"$/.exec(ifMatch);
  if (!match) throw new HttpError('CONFLICT', 'If-Match must be one ETag as GET /policy gave it', { status: 412, field: 'if-match' });
  return Number(match[1]);
}

function outdated({ message, extra }: HandrailError): HttpError {
  const version = String(extra['version'] ?? '');
  return new HttpError('CONFLICT', message, { status: 412, field: 'if-match', headers: { etag: `"${version}"` }, extra: { version } });
}
