import { describe, expect, it } from 'vitest';
import type { ApprovalDecision, Suspension, SuspensionChange } from '../../../lib/core/guard/approvals/suspension.ts';
import { DEPLOYMENT, type LivePolicy } from '../../../lib/core/guard/policy.ts';
import type { Permits } from '../../../lib/core/hands/permits-item.ts';
import type { GuardStore } from '../../../lib/core/ports/guard-store.ts';
import type { StoreSet } from '../../support/dynalite.ts';
import { type Abilities, everything, newApproval, newSuspension, newTenant } from './samples.ts';

type DecideChange = Extract<SuspensionChange, { kind: 'decide' }>;
const decisionBy = (by: string, over: Partial<ApprovalDecision> = {}): ApprovalDecision => ({ by, at: 5_000, how: 'api', ...over });
const decide = (now: number, by: string, status: DecideChange['decisions'][number]['status'], ...callIds: string[]): DecideChange => ({
  kind: 'decide',
  now,
  decisions: callIds.map((callId) => ({ callId, status, decision: decisionBy(by) })),
});

/** What any GuardStore must do. */
export function guardStoreContract(stores: () => StoreSet, can: Abilities = everything): void {
  const guard = (): GuardStore => stores().guard;
  const opened = async (callIds: readonly string[], over: Partial<Suspension> = {}): Promise<Suspension> => {
    const suspension = newSuspension(
      newTenant(),
      callIds.map((callId) => newApproval(callId)),
      over,
    );
    await guard().openSuspension(suspension);
    return suspension;
  };
  const dueAt = async ({ suspensionId }: Suspension): Promise<number | undefined> => (await guard().getSuspension(suspensionId))?.dueAt;

  describe('opening a suspension', () => {
    it('erases one, and another stays', async () => {
      const [gone, stays] = [await opened(['c3-0']), await opened(['c3-0'])];
      await guard().eraseSuspension(gone.suspensionId);
      await guard().eraseSuspension(gone.suspensionId);
      expect(await guard().getSuspension(gone.suspensionId)).toBeUndefined();
      expect(await guard().getSuspension(stays.suspensionId)).toBeDefined();
    });

    it('keeps it whole', async () => {
      const deep = JSON.parse(`${'{"":'.repeat(50)}1e300${'}'.repeat(50)}`);
      const suspension = newSuspension(
        newTenant(),
        [newApproval('c3-10', { arguments: { deep, text: '' } }), newApproval('c3-2', { kind: 'question' })],
        { dueAt: 10_000 },
      );
      await guard().openSuspension(suspension);
      expect(await guard().getSuspension(suspension.suspensionId)).toEqual(suspension);
    });

    it('changes nothing when it is open already', async () => {
      const suspension = await opened(['c3-0']);
      await guard().changeSuspension(suspension.suspensionId, decide(5_000, 'ann', 'approved', 'c3-0'));
      await guard().openSuspension(suspension);
      expect((await guard().getSuspension(suspension.suspensionId))?.approvals['c3-0']?.status).toBe('approved');
    });
  });

  describe('deciding', () => {
    it('takes each decision with who, when and why', async () => {
      const suspension = await opened(['c3-0', 'c3-1', 'c3-2']);
      const outcome = await guard().changeSuspension(suspension.suspensionId, {
        kind: 'decide',
        now: 5_000,
        decisions: [
          { callId: 'c3-0', status: 'edited', decision: decisionBy('ann', { arguments: { command: 'pwd', list: [1, { a: null }] } }) },
          { callId: 'c3-1', status: 'rejected', decision: decisionBy('ann', { reason: '' }) },
        ],
      });
      expect(outcome.applied).toBe(true);
      expect(outcome.suspension?.approvals).toMatchObject({
        'c3-0': {
          status: 'edited',
          decision: { by: 'ann', arguments: { command: 'pwd', list: [1, { a: null }] } },
          arguments: { command: 'ls' },
        },
        'c3-1': { status: 'rejected', decision: { reason: '' } },
        'c3-2': { status: 'pending' },
      });
      expect(await guard().getSuspension(suspension.suspensionId)).toEqual(outcome.suspension);
    });

    it('lets exactly one of two people decide, and shows the other who did', async () => {
      const suspension = await opened(['c3-0']);
      const names = ['ann', 'bob', 'cid', 'dan'];
      const outcomes = await Promise.all(
        names.map((name) =>
          guard().changeSuspension(suspension.suspensionId, decide(5_000, name, name === 'bob' ? 'rejected' : 'approved', 'c3-0')),
        ),
      );
      expect(outcomes.filter(({ applied }) => applied)).toHaveLength(1);
      const winner = names[outcomes.findIndex(({ applied }) => applied)];
      for (const { suspension: seen } of outcomes) expect(seen?.approvals['c3-0']?.decision?.by).toBe(winner);
    });

    it('is all or nothing', async () => {
      const suspension = await opened(['c3-0', 'c3-1']);
      await guard().changeSuspension(suspension.suspensionId, decide(5_000, 'ann', 'approved', 'c3-0'));
      const refused = await guard().changeSuspension(suspension.suspensionId, decide(5_001, 'bob', 'rejected', 'c3-1', 'c3-0'));
      expect(refused.applied).toBe(false);
      expect(refused.suspension?.approvals).toMatchObject({ 'c3-0': { status: 'approved' }, 'c3-1': { status: 'pending' } });
    });

    it('is refused from the moment of expiry on, when expiring begins to be accepted', async () => {
      const suspension = await opened(['c3-0', 'c3-1']);
      const expire = (now: number): SuspensionChange => ({ kind: 'expire', now, callIds: ['c3-1'] });
      expect((await guard().changeSuspension(suspension.suspensionId, expire(9_999))).applied).toBe(false);
      expect((await guard().changeSuspension(suspension.suspensionId, decide(9_999, 'ann', 'approved', 'c3-0'))).applied).toBe(true);
      expect((await guard().changeSuspension(suspension.suspensionId, decide(10_000, 'ann', 'approved', 'c3-1'))).applied).toBe(false);
      const expired = await guard().changeSuspension(suspension.suspensionId, expire(10_000));
      expect(expired).toMatchObject({
        applied: true,
        suspension: { approvals: { 'c3-0': { status: 'approved' }, 'c3-1': { status: 'expired' } } },
      });
      expect((await guard().changeSuspension(suspension.suspensionId, decide(5_000, 'ann', 'approved', 'c3-1'))).applied).toBe(false);
    });

    it('knows no unknown call and no unknown suspension', async () => {
      const suspension = await opened(['c3-0']);
      expect((await guard().changeSuspension(suspension.suspensionId, decide(5_000, 'ann', 'approved', 'c3-7'))).applied).toBe(false);
      const unknown = newSuspension('nobody', []).suspensionId;
      expect(await guard().changeSuspension(unknown, decide(5_000, 'ann', 'approved', 'c3-0'))).toEqual({
        applied: false,
        suspension: undefined,
      });
      expect(await guard().changeSuspension(unknown, { kind: 'token', token: 't', execution: 'e', now: 1 })).toEqual({
        applied: false,
        suspension: undefined,
      });
      expect(await guard().getSuspension(unknown)).toBeUndefined();
    });

    it('cancels what is pending, expired or not, and nothing else', async () => {
      const suspension = await opened(['c3-0', 'c3-1']);
      const cancel = (...callIds: string[]): SuspensionChange => ({ kind: 'cancel', now: 50_000, callIds, by: 'ann' });
      expect(await guard().changeSuspension(suspension.suspensionId, cancel('c3-0'))).toMatchObject({
        applied: true,
        suspension: { approvals: { 'c3-0': { status: 'cancelled', decision: { by: 'ann', how: 'cancel' } } } },
      });
      expect((await guard().changeSuspension(suspension.suspensionId, cancel('c3-0', 'c3-1'))).applied).toBe(false);
    });

    it('takes a batch of 128 calls', async () => {
      const callIds = Array.from({ length: 128 }, (_, n) => `c3-${n}`);
      const suspension = await opened(callIds);
      const outcome = await guard().changeSuspension(suspension.suspensionId, decide(5_000, 'ann', 'approved', ...callIds));
      expect(outcome.applied).toBe(true);
      expect(Object.values(outcome.suspension?.approvals ?? {}).every(({ status }) => status === 'approved')).toBe(true);
    });

    it('is all or nothing for a batch of 128 calls too, whoever else decides one of them first, last or meanwhile', async () => {
      const callIds = Array.from({ length: 128 }, (_, n) => `c3-${n}`);
      for (const taken of ['c3-0', 'c3-127']) {
        const suspension = await opened(callIds);
        await guard().changeSuspension(suspension.suspensionId, decide(5_000, 'ann', 'rejected', taken));
        const refused = await guard().changeSuspension(suspension.suspensionId, decide(5_001, 'bob', 'approved', ...callIds));
        expect(refused.applied).toBe(false);
        const statuses = Object.values((await guard().getSuspension(suspension.suspensionId))?.approvals ?? {}).map(({ status }) => status);
        expect(statuses.filter((status) => status !== 'pending')).toEqual(['rejected']);
      }
      const suspension = await opened(callIds);
      const outcomes = await Promise.all([
        guard().changeSuspension(suspension.suspensionId, decide(5_000, 'bob', 'approved', ...callIds)),
        guard().changeSuspension(suspension.suspensionId, decide(5_000, 'ann', 'rejected', 'c3-90')),
        guard().changeSuspension(suspension.suspensionId, decide(5_000, 'cid', 'rejected', ...callIds)),
      ]);
      expect(outcomes.filter(({ applied }) => applied)).toHaveLength(1);
      const decided = Object.values((await guard().getSuspension(suspension.suspensionId))?.approvals ?? {}).flatMap(
        ({ decision }) => decision?.by ?? [],
      );
      expect([new Set(decided).size, [1, 128]]).toEqual([1, expect.arrayContaining([decided.length])]);
    });

    it('decides 128 calls not a moment too late', async () => {
      const callIds = Array.from({ length: 128 }, (_, n) => `c3-${n}`);
      const suspension = await opened(callIds);
      expect((await guard().changeSuspension(suspension.suspensionId, decide(10_000, 'ann', 'approved', ...callIds))).applied).toBe(false);
    });
  });

  describe('when sweep looks', () => {
    it('at once after the last decision, at the next expiry while others are pending', async () => {
      const suspension = newSuspension(newTenant(), [newApproval('c3-0', { expiresAt: 8_000 }), newApproval('c3-1', { expiresAt: 9_000 })]);
      await guard().openSuspension(suspension);
      const first = await guard().changeSuspension(suspension.suspensionId, decide(5_000, 'ann', 'approved', 'c3-0'));
      expect(first.suspension?.dueAt).toBe(9_000);
      const second = await guard().changeSuspension(suspension.suspensionId, decide(6_000, 'ann', 'approved', 'c3-1'));
      expect(second.suspension?.dueAt).toBe(6_000);
      expect(await dueAt(suspension)).toBe(6_000);
    });

    it('never again after it was delivered, even if what was left open is cancelled', async () => {
      const suspension = await opened(['c3-0', 'c3-1']);
      await guard().changeSuspension(suspension.suspensionId, { kind: 'delivered', now: 6_000 });
      const cancelled = await guard().changeSuspension(suspension.suspensionId, {
        kind: 'cancel',
        now: 7_000,
        callIds: ['c3-0'],
        by: 'ann',
      });
      expect(cancelled).toMatchObject({ applied: true, suspension: { approvals: { 'c3-0': { status: 'cancelled' } } } });
      expect(cancelled.suspension?.dueAt).toBeUndefined();
      expect(await dueAt(suspension)).toBeUndefined();
    });

    it('no more once it is delivered or acknowledged', async () => {
      const suspension = await opened(['c3-0']);
      await guard().changeSuspension(suspension.suspensionId, decide(5_000, 'ann', 'approved', 'c3-0'));
      await guard().changeSuspension(suspension.suspensionId, { kind: 'due', dueAt: 7_000 });
      expect(await dueAt(suspension)).toBe(7_000);
      expect(await guard().changeSuspension(suspension.suspensionId, { kind: 'delivered', now: 6_000 })).toMatchObject({
        applied: true,
        suspension: { deliveredAt: 6_000 },
      });
      expect(await dueAt(suspension)).toBeUndefined();
      await guard().changeSuspension(suspension.suspensionId, { kind: 'due', dueAt: 8_000 });
      expect(await dueAt(suspension)).toBeUndefined();
      expect(await guard().changeSuspension(suspension.suspensionId, { kind: 'ack', now: 6_500, ttl: 99 })).toMatchObject({
        applied: true,
        suspension: { ackedAt: 6_500, ttl: 99 },
      });
      expect(await dueAt(suspension)).toBeUndefined();
    });
  });

  describe('tokens', () => {
    it('are kept in order, each once', async () => {
      const suspension = await opened(['c3-0']);
      const token = (text: string, now: number): SuspensionChange => ({ kind: 'token', token: text, execution: 'run-1', now });
      const long = 't'.repeat(2_048);
      await guard().changeSuspension(suspension.suspensionId, token(long, 1));
      await guard().changeSuspension(suspension.suspensionId, token('second', 2));
      const again = await guard().changeSuspension(suspension.suspensionId, token(long, 3));
      expect(again.suspension?.tokens).toEqual([
        { token: long, execution: 'run-1', at: 1 },
        { token: 'second', execution: 'run-1', at: 2 },
      ]);
    });

    it('and a decision at the same moment: whoever comes second sees both', async () => {
      for (let round = 0; round < 10; round++) {
        const suspension = await opened(['c3-0']);
        const [token, decided] = await Promise.all([
          guard().changeSuspension(suspension.suspensionId, { kind: 'token', token: 't', execution: 'e', now: 1 }),
          guard().changeSuspension(suspension.suspensionId, decide(5_000, 'ann', 'approved', 'c3-0')),
        ]);
        const sees = (one: Suspension | undefined): boolean => one?.tokens.length === 1 && one.approvals['c3-0']?.status === 'approved';
        expect([sees(token.suspension), sees(decided.suspension)]).toContain(true);
      }
    });

    it('notices are marked once', async () => {
      const suspension = await opened(['c3-0']);
      await guard().changeSuspension(suspension.suspensionId, { kind: 'notified', now: 5 });
      expect((await guard().getSuspension(suspension.suspensionId))?.notifiedAt).toBe(5);
    });
  });

  describe('lists of suspensions', () => {
    it('show a tenant its own, newest first, by pages', async () => {
      const tenant = newTenant();
      for (let n = 0; n < 5; n++) await guard().openSuspension(newSuspension(tenant, [newApproval('c3-0')], { createdAt: n }));
      await opened(['c3-0']);
      const first = await guard().listSuspensions(tenant, { pending: true, limit: 3 });
      expect(first.items.map(({ createdAt }) => createdAt)).toEqual([4, 3, 2]);
      const second = await guard().listSuspensions(tenant, { pending: true, limit: 3, cursor: first.cursor ?? '' });
      expect(second.items.map(({ createdAt }) => createdAt)).toEqual([1, 0]);
    });

    it.skipIf(!can.cursors)('refuse a cursor of another tenant', async () => {
      const tenant = newTenant();
      for (let n = 0; n < 2; n++) await guard().openSuspension(newSuspension(tenant, [newApproval('c3-0')]));
      const { cursor } = await guard().listSuspensions(tenant, { pending: true, limit: 1 });
      const stolen = guard().listSuspensions(newTenant(), { pending: true, limit: 1, cursor: cursor ?? '' });
      await expect(stolen).rejects.toMatchObject({ code: 'BAD_REQUEST' });
    });

    it('show as pending only what still waits for a person', async () => {
      const tenant = newTenant();
      const [waiting, decided, delivered] = [0, 1, 2].map((createdAt) => newSuspension(tenant, [newApproval('c3-0')], { createdAt }));
      for (const one of [waiting, decided, delivered]) if (one) await guard().openSuspension(one);
      for (const one of [decided, delivered])
        await guard().changeSuspension(one?.suspensionId ?? '', decide(5_000, 'ann', 'approved', 'c3-0'));
      await guard().changeSuspension(delivered?.suspensionId ?? '', { kind: 'delivered', now: 5_001 });
      expect((await guard().listSuspensions(tenant, { pending: true, limit: 10 })).items.map(({ createdAt }) => createdAt)).toEqual([0]);
      expect((await guard().listSuspensions(tenant, { pending: false, limit: 10 })).items.map(({ createdAt }) => createdAt)).toEqual([
        2, 1, 0,
      ]);
    });
  });

  describe('permits', () => {
    it('are changed by exactly one of those who saw the same version', async () => {
      const before = await guard().getPermits();
      const next = (n: number): Permits => ({
        ver: before.ver + 1,
        leases: [{ key: `k${n}`, run: 'r', levels: ['global'], until: 5 }],
        waiting: [{ key: 'w', run: 'r', levels: ['global', 'tool:x'], since: 1, until: 2 }],
      });
      const won = await Promise.all(Array.from({ length: 6 }, (_, n) => guard().putPermits(next(n))));
      expect(won.filter(Boolean)).toHaveLength(1);
      expect(await guard().getPermits()).toEqual(next(won.indexOf(true)));
      expect(await guard().putPermits({ ...next(0), ver: before.ver + 3 })).toBe(false);
    });
  });

  describe('policy', () => {
    const policy = (version: number, updatedBy: string): LivePolicy => ({
      v: 1,
      version,
      guard: { default_policy: 'deny', tool_policy: { 'web_*': { policy: 'deny', when: { type: 'object' } } } },
      updatedAt: 1,
      updatedBy,
    });

    it('is written over the version that was seen, by tenant', async () => {
      const tenant = newTenant();
      expect(await guard().getPolicy(tenant)).toBeUndefined();
      expect(await guard().putPolicy(tenant, policy(2, 'early'))).toBe(false);
      expect(await guard().putPolicy(tenant, policy(1, 'ann'))).toBe(true);
      expect(await guard().putPolicy(tenant, policy(1, 'bob'))).toBe(false);
      expect(await guard().putPolicy(tenant, policy(2, 'bob'))).toBe(true);
      expect(await guard().getPolicy(tenant)).toEqual(policy(2, 'bob'));
      expect(await guard().getPolicy(newTenant())).toBeUndefined();
    });

    it("is read with the deployment's, which comes first", async () => {
      const tenant = newTenant();
      const ofAll = await guard().getPolicies(tenant);
      expect(await guard().putPolicy(tenant, policy(1, 'ann'))).toBe(true);
      expect(await guard().getPolicies(tenant)).toEqual([...ofAll, policy(1, 'ann')]);
    });

    it('keeps the versions that were replaced, newest first, page by page', async () => {
      const tenant = newTenant();
      expect(await guard().listKeptPolicies(tenant, { limit: 10 })).toEqual({ items: [], cursor: undefined });
      for (const version of [1, 2, 3]) {
        await guard().keepPolicy(tenant, policy(version, `writer ${version}`));
        await guard().keepPolicy(tenant, policy(version, `writer ${version}`));
      }
      await guard().putPolicy(tenant, policy(1, 'ann'));
      const first = await guard().listKeptPolicies(tenant, { limit: 2 });
      expect(first.items).toEqual([policy(3, 'writer 3'), policy(2, 'writer 2')]);
      const rest = await guard().listKeptPolicies(tenant, { limit: 2, cursor: first.cursor ?? '' });
      expect(rest.items).toEqual([policy(1, 'writer 1')]);
      expect((await guard().listKeptPolicies(newTenant(), { limit: 2 })).items).toEqual([]);
    });

    it('of the deployment has a place of its own', async () => {
      const before = (await guard().getPolicy(DEPLOYMENT))?.version ?? 0;
      expect(await guard().putPolicy(DEPLOYMENT, policy(before + 1, 'ops'))).toBe(true);
      expect((await guard().getPolicy(DEPLOYMENT))?.updatedBy).toBe('ops');
    });
  });
}
