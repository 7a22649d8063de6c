import { unreachable } from '../../lib/core/errors.ts';
import {
  type Approval,
  MAX_LINKS,
  pendingCalls,
  type Suspension,
  type SuspensionChange,
  suspensionSchema,
} from '../../lib/core/guard/approvals/suspension.ts';
import { DEPLOYMENT, livePolicySchema } from '../../lib/core/guard/policy.ts';
import { noPermits, permitsSchema } from '../../lib/core/hands/permits-item.ts';
import type { GuardStore } from '../../lib/core/ports/guard-store.ts';
import { type Gate, type MemoryState, pageOf, stored } from './memory-state.ts';

/** The guard table in Maps: each operation waits at the gate, then happens at once, under the same conditions as the real one. */
export function memoryGuardStore(state: MemoryState, gate: Gate): GuardStore {
  return {
    async getSuspension(suspensionId) {
      await gate('getSuspension');
      return structuredClone(state.suspensions.get(suspensionId));
    },
    async openSuspension(suspension) {
      await gate('openSuspension');
      if (!state.suspensions.has(suspension.suspensionId))
        state.suspensions.set(suspension.suspensionId, stored(suspensionSchema, suspension));
    },
    async changeSuspension(suspensionId, change) {
      await gate(`change:${change.kind}`);
      const there = state.suspensions.get(suspensionId);
      if (!there) return { applied: false, suspension: undefined };
      const next = changed(structuredClone(there), change);
      if (next) state.suspensions.set(suspensionId, stored(suspensionSchema, next));
      return { applied: next !== undefined, suspension: structuredClone(state.suspensions.get(suspensionId)) };
    },
    async listSuspensions(tenant, { pending, limit, cursor }) {
      await gate('listSuspensions');
      const mine = [...state.suspensions.values()].filter((item) => item.tenant === tenant && (!pending || pendingCalls(item).length > 0));
      return pageOf(
        mine.sort((a, b) => b.createdAt - a.createdAt),
        limit,
        cursor,
      );
    },
    async eraseSuspension(suspensionId) {
      await gate('eraseSuspension');
      state.suspensions.delete(suspensionId);
    },
    async getPermits() {
      await gate('getPermits');
      return structuredClone(state.permits ?? noPermits);
    },
    async putPermits(next) {
      await gate('putPermits');
      if ((state.permits?.ver ?? 0) !== next.ver - 1) return false;
      state.permits = stored(permitsSchema, next);
      return true;
    },
    async getPolicy(tenant) {
      await gate('getPolicy');
      return structuredClone(state.policies.get(tenant));
    },
    async getPolicies(tenant) {
      await gate('getPolicies');
      return structuredClone([DEPLOYMENT, tenant].flatMap((owner) => state.policies.get(owner) ?? []));
    },
    async putPolicy(tenant, policy) {
      await gate('putPolicy');
      if ((state.policies.get(tenant)?.version ?? 0) !== policy.version - 1) return false;
      state.policies.set(tenant, stored(livePolicySchema, policy));
      return true;
    },
    async keepPolicy(tenant, policy) {
      await gate('keepPolicy');
      const others = (state.keptPolicies.get(tenant) ?? []).filter(({ version }) => version !== policy.version);
      state.keptPolicies.set(tenant, [...others, stored(livePolicySchema, policy)]);
    },
    async listKeptPolicies(tenant, { limit, cursor }) {
      await gate('listKeptPolicies');
      return pageOf((state.keptPolicies.get(tenant) ?? []).toReversed(), limit, cursor);
    },
  };
}

/** The suspension after the change; undefined when its condition does not hold. */
function changed(suspension: Suspension, change: SuspensionChange): Suspension | undefined {
  switch (change.kind) {
    case 'decide':
      return settled(suspension, change.now, change.decisions, (approval) => approval.expiresAt > change.now);
    case 'expire': {
      const decision = { by: 'handrail', at: change.now, how: 'sweep' };
      const all = change.callIds.map((callId) => ({ callId, status: 'expired' as const, decision }));
      return settled(suspension, change.now, all, (approval) => approval.expiresAt <= change.now);
    }
    case 'cancel': {
      const decision = { by: change.by, at: change.now, how: 'cancel' };
      const all = change.callIds.map((callId) => ({ callId, status: 'cancelled' as const, decision }));
      return settled(suspension, change.now, all, () => true);
    }
    case 'token': {
      const { token, execution, now } = change;
      if (suspension.tokens.some((item) => item.token === token)) return suspension;
      return { ...suspension, tokens: [...suspension.tokens, { token, execution, at: now }] };
    }
    case 'link': {
      const links = suspension.links ?? [];
      if (links.some(({ hash }) => hash === change.link.hash)) return suspension;
      if (suspension.notifiedAt !== undefined || links.length >= MAX_LINKS) return undefined;
      return {
        ...suspension,
        links: [...links, change.link].sort((a, b) => (`${a.expiresAt}#${a.hash}` < `${b.expiresAt}#${b.hash}` ? -1 : 1)),
      };
    }
    case 'notified':
      return { ...suspension, notifiedAt: suspension.notifiedAt ?? change.now };
    case 'delivered':
      return withoutDue({ ...suspension, deliveredAt: suspension.deliveredAt ?? change.now });
    case 'ack':
      return withoutDue({ ...suspension, ackedAt: suspension.ackedAt ?? change.now, ttl: change.ttl });
    case 'due':
      return suspension.deliveredAt !== undefined || suspension.ackedAt !== undefined ? undefined : { ...suspension, dueAt: change.dueAt };
    default:
      return unreachable(change);
  }
}

type Settling = Pick<Approval, 'callId' | 'status' | 'decision'>;

function settled(
  suspension: Suspension,
  now: number,
  all: readonly Settling[],
  inTime: (approval: Approval) => boolean,
): Suspension | undefined {
  for (const { callId, status, decision } of all) {
    const approval = suspension.approvals[callId];
    if (approval?.status !== 'pending' || !inTime(approval)) return undefined;
    suspension.approvals[callId] = { ...approval, status, ...(decision ? { decision } : {}) };
  }
  const pending = pendingCalls(suspension).map((callId) => suspension.approvals[callId]?.expiresAt ?? 0);
  if (suspension.deliveredAt !== undefined) return suspension;
  return { ...suspension, dueAt: pending.length > 0 ? Math.min(...pending) : now };
}

function withoutDue({ dueAt: _due, ...suspension }: Suspension): Suspension {
  return suspension;
}
