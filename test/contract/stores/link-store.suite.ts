import { describe, expect, it } from 'vitest';
import { type Link, MAX_LINKS, type Suspension } from '../../../lib/core/guard/approvals/suspension.ts';
import type { GuardStore } from '../../../lib/core/ports/guard-store.ts';
import type { LinkStore } from '../../../lib/core/ports/link-store.ts';
import { newApproval, newSuspension, newTenant } from './samples.ts';

const linkOf = (n: number): Link => ({ hash: String(n).repeat(64), expiresAt: 10_000 + n });

/** What any LinkStore must do, and the guard store that it shares its items with. */
export function linkStoreContract(stores: () => { guard: GuardStore; links: LinkStore }): void {
  const opened = async (): Promise<Suspension> => {
    const suspension = newSuspension(newTenant(), [newApproval('c3-0')]);
    await stores().guard.openSuspension(suspension);
    return suspension;
  };
  const add = (suspension: Suspension, n: number) =>
    stores().guard.changeSuspension(suspension.suspensionId, { kind: 'link', link: linkOf(n) });

  describe('links', () => {
    it('are kept in the suspension and found there alone, each once', async () => {
      const suspension = await opened();
      await add(suspension, 1);
      await add(suspension, 2);
      const again = await add(suspension, 1);

      expect(again).toMatchObject({ applied: true, suspension: { links: [linkOf(1), linkOf(2)] } });
      expect(await stores().guard.getSuspension(suspension.suspensionId)).toEqual({ ...suspension, ...again.suspension });
      expect(await stores().links.readLinks(suspension.suspensionId, 7)).toEqual({ links: [linkOf(1), linkOf(2)], tries: 0 });
    });

    it('are at most five, however many are added at once', async () => {
      const suspension = await opened();
      const outcomes = await Promise.all([1, 2, 3, 4, 5, 6, 7].map((n) => add(suspension, n)));
      expect(outcomes.filter(({ applied }) => applied)).toHaveLength(MAX_LINKS);
      expect((await stores().links.readLinks(suspension.suspensionId, 0)).links).toHaveLength(MAX_LINKS);
    });

    it('are added no more once people have been told', async () => {
      const suspension = await opened();
      await add(suspension, 1);
      await stores().guard.changeSuspension(suspension.suspensionId, { kind: 'notified', now: 5 });
      expect(await add(suspension, 2)).toMatchObject({ applied: false, suspension: { links: [linkOf(1)], notifiedAt: 5 } });
    });

    it('are none where there are none, and for a suspension that nobody has', async () => {
      const suspension = await opened();
      const unknown = newSuspension(newTenant(), []);
      expect(await stores().links.readLinks(suspension.suspensionId, 0)).toEqual({ links: [], tries: 0 });
      expect(await stores().links.readLinks(unknown.suspensionId, 0)).toEqual({ links: [], tries: 0 });
      expect(await add(unknown, 1)).toEqual({ applied: false, suspension: undefined });
    });
  });

  describe('tries', () => {
    it('are counted by suspension and span, also where no suspension is', async () => {
      const [one, other] = [await opened(), newSuspension(newTenant(), [])];
      const { links } = stores();
      await links.countTry(one.suspensionId, 7, 99);
      expect(await links.countTry(one.suspensionId, 7, 99)).toBe(2);
      expect(await links.countTry(other.suspensionId, 7, 99)).toBe(1);
      expect(await links.countTry(one.suspensionId, 8, 99)).toBe(1);
      expect((await links.readLinks(one.suspensionId, 7)).tries).toBe(2);
      expect((await links.readLinks(other.suspensionId, 7)).tries).toBe(1);
      expect(await stores().guard.getSuspension(other.suspensionId)).toBeUndefined();
    });

    it('lose none of those that come at once', async () => {
      const suspension = await opened();
      const counts = await Promise.all(Array.from({ length: 20 }, () => stores().links.countTry(suspension.suspensionId, 1, 99)));
      expect(counts.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, n) => n + 1));
    });
  });
}
