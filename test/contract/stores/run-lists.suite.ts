import { describe, expect, it } from 'vitest';
import { eventKey, type PlacedEvent, type RunEvent } from '../../../lib/core/loop/event.ts';
import type { Run } from '../../../lib/core/loop/run.ts';
import type { DueItem, DueKind, RunStore } from '../../../lib/core/ports/run-store.ts';
import type { StoreSet } from '../../support/dynalite.ts';
import { type Abilities, everything, newApproval, newRun, newSuspension, newTenant, nextStep } from './samples.ts';

const at = (step: number, execution = 1, finish = false) => ({ step, execution, finish });
const event = (type: RunEvent['type'], n = 0): RunEvent => ({ type, at: 1_000 + n, data: { n, nested: { empty: '', none: null } } });

/** What any RunStore must do with events, lists and what is due. */
export function runListsContract(stores: () => StoreSet, can: Abilities = everything): void {
  const runs = (): RunStore => stores().runs;
  const created = async (over: Partial<Run> = {}): Promise<Run> => (await runs().createRun(newRun(newTenant(), over))).run;

  describe('events', () => {
    const placed = (step: number, source: Parameters<typeof eventKey>[1], n: number): PlacedEvent => ({
      ...event('guard.decision', n),
      step,
      key: eventKey(step, source, n),
    });

    it('come in order of their keys, those of the last commit included, none twice', async () => {
      const run = await created();
      await runs().commit(nextStep(run, 'b', { events: [event('run.started'), event('llm.call.completed', 1)] }), at(0));
      await runs().write(run, run.sessionId, [], [placed(1, 'suspend', 0), placed(1, 'decide', 0)]);
      const keys = [eventKey(1, 'reason', 0), eventKey(1, 'reason', 1), eventKey(1, 'suspend', 0), eventKey(1, 'decide', 0)];
      expect((await runs().readEvents(run, 0)).map(({ key }) => key)).toEqual(keys);
      // The next step moves them to items of their own before it commits; read in between, they are in both places.
      await runs().write(
        run,
        run.sessionId,
        [],
        [
          { ...event('run.started'), step: 1, key: keys[0] ?? '' },
          { ...event('llm.call.completed', 1), step: 1, key: keys[1] ?? '' },
        ],
      );
      expect((await runs().readEvents(run, 0)).map(({ key }) => key)).toEqual(keys);
      await runs().commit({ ...nextStep(run, 'c', { events: [event('run.finished')] }), step: 2 }, at(1));
      const all = await runs().readEvents(run, 0);
      expect(all.map(({ key }) => key)).toEqual([...keys, eventKey(2, 'reason', 0)]);
      expect(all[0]).toEqual({ ...event('run.started'), step: 1, key: keys[0] });
    });

    it('after a step begin with that step whole', async () => {
      const run = await created({ step: 12, events: [event('llm.call.completed')] });
      await runs().write(
        run,
        run.sessionId,
        [],
        [placed(2, 'settle', 0), placed(10, 'reason', 0), placed(11, 'reason', 0), placed(9, 'reason', 7)],
      );
      expect((await runs().readEvents(run, 10)).map(({ step }) => step)).toEqual([10, 11, 12]);
      expect(await runs().readEvents(run, 13)).toEqual([]);
      expect(await runs().readEvents(newRun(newTenant()), 0)).toEqual([]);
    });

    it('are read to the end, however many there are', async () => {
      const run = await created();
      const many = Array.from({ length: 130 }, (_, n) => ({ ...placed(1, 'settle', n), data: { text: 'x'.repeat(10_000) } }));
      await runs().write(run, run.sessionId, [], many);
      expect(await runs().readEvents(run, 0)).toHaveLength(130);
    });
  });

  describe('lists', () => {
    it('page through a tenant, newest first, each run once', async () => {
      const tenant = newTenant();
      const all = Array.from({ length: 7 }, (_, n) => newRun(tenant, { createdAt: 1_000 + (n % 4) }));
      for (const run of all) await runs().createRun(run);
      await created();
      const seen: Run[] = [];
      let cursor: string | undefined;
      do {
        const page = await runs().listRuns(tenant, { limit: 3, ...(cursor === undefined ? {} : { cursor }) });
        expect(page.items.length).toBeLessThanOrEqual(3);
        seen.push(...page.items);
        cursor = page.cursor;
      } while (cursor !== undefined);
      expect(new Set(seen.map(({ runId }) => runId))).toEqual(new Set(all.map(({ runId }) => runId)));
      expect(seen.map(({ createdAt }) => createdAt)).toEqual(seen.map(({ createdAt }) => createdAt).sort((a, b) => b - a));
    });

    it('filter by status and session', async () => {
      const tenant = newTenant();
      for (let n = 0; n < 6; n++)
        await runs().createRun(
          newRun(tenant, { createdAt: n, sessionId: n % 2 ? 'odd' : 'even', status: n < 3 ? 'succeeded' : 'running' }),
        );
      const found = await runs().listRuns(tenant, { limit: 10, status: 'running', sessionId: 'odd' });
      expect(found.items.map(({ createdAt }) => createdAt)).toEqual([5, 3]);
      const first = await runs().listRuns(tenant, { limit: 1, status: 'succeeded' });
      expect(first.items.map(({ createdAt }) => createdAt)).toEqual([2]);
      const second = await runs().listRuns(tenant, { limit: 5, status: 'succeeded', cursor: first.cursor ?? '' });
      expect(second.items.map(({ createdAt }) => createdAt)).toEqual([1, 0]);
    });

    it.skipIf(!can.cursors)('refuse a cursor of another tenant and one that was made up', async () => {
      const tenant = newTenant();
      for (let n = 0; n < 3; n++) await runs().createRun(newRun(tenant, { createdAt: n }));
      const { cursor } = await runs().listRuns(tenant, { limit: 1 });
      expect(cursor).toBeDefined();
      await expect(runs().listRuns(newTenant(), { limit: 1, cursor: cursor ?? '' })).rejects.toMatchObject({
        code: 'BAD_REQUEST',
        field: 'cursor',
      });
      await expect(runs().listRuns(tenant, { limit: 1, cursor: 'made-up' })).rejects.toMatchObject({ code: 'BAD_REQUEST' });
    });
  });

  describe('what is due', () => {
    const idOf = (item: DueItem): string =>
      item.kind === 'run' ? item.key.runId : item.kind === 'suspension' ? item.suspensionId : item.pk;
    /** All pages, of so many each. */
    async function dueBy(kind: DueKind, now: number, limit = 1_000): Promise<DueItem[]> {
      const found: DueItem[] = [];
      let cursor: string | undefined;
      do {
        const page = await runs().due(kind, now, { limit, ...(cursor === undefined ? {} : { cursor }) });
        expect(page.items.length).toBeLessThanOrEqual(limit);
        found.push(...page.items);
        cursor = page.cursor;
      } while (cursor !== undefined);
      return found;
    }

    it('names runs, or suspensions, whose time has come, soonest first, and no others', async () => {
      const tenant = newTenant();
      const [late, soon, later] = [newRun(tenant, { dueAt: 50 }), newRun(tenant, { dueAt: 10 }), newRun(tenant, { dueAt: 101 })];
      for (const run of [late, soon, later]) await runs().createRun(run);
      const suspension = newSuspension(tenant, [newApproval('c3-0', { expiresAt: 20 })], { dueAt: 20 });
      await stores().guard.openSuspension(suspension);
      const mine = new Set([late.runId, soon.runId, later.runId, suspension.suspensionId]);
      expect((await dueBy('run', 100)).filter((item) => mine.has(idOf(item)))).toEqual([
        { kind: 'run', key: { tenant, runId: soon.runId }, dueAt: 10 },
        { kind: 'run', key: { tenant, runId: late.runId }, dueAt: 50 },
      ]);
      expect((await dueBy('suspension', 100)).filter((item) => mine.has(idOf(item)))).toEqual([
        { kind: 'suspension', suspensionId: suspension.suspensionId, dueAt: 20 },
      ]);
    });

    it('comes page by page, each behind the one before, also while items of it move on and of those due at one moment', async () => {
      const tenant = newTenant();
      const all = Array.from({ length: 7 }, (_, n) => newRun(tenant, { dueAt: Math.max(1, n - 1) }));
      for (const run of all) await runs().createRun(run);
      const seen: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await runs().due('run', 9, { limit: 2, ...(cursor === undefined ? {} : { cursor }) });
        for (const item of page.items) {
          seen.push(idOf(item));
          if (item.kind === 'run') await runs().postponeRun(item.key, 0, 90_000);
        }
        cursor = page.cursor;
      } while (cursor !== undefined);
      expect([...seen].sort()).toEqual(all.map(({ runId }) => runId).sort());
      expect(seen.slice(3)).toEqual(all.slice(3).map(({ runId }) => runId));
    });

    it('forgets a run whose finish commit took its time away', async () => {
      const run = await created({ dueAt: 10 });
      const { dueAt: _dueAt, ...ended } = nextStep(run, 'b', { status: 'succeeded' });
      await runs().commit(ended, at(0, 1, true));
      expect((await dueBy('run', 100)).filter((item) => idOf(item) === run.runId)).toEqual([]);
    });

    it('is put off longer at each failure in a row, up to a limit, and from the beginning once something else has moved it', async () => {
      const delays = { firstMs: 100, mostMs: 300 };
      const run = await created({ dueAt: 10 });
      const suspension = newSuspension(newTenant(), [newApproval('c3-0', { expiresAt: 20 })], { dueAt: 10 });
      await stores().guard.openSuspension(suspension);
      const dueAt = async (kind: DueKind) =>
        kind === 'run' ? (await runs().getRun(run))?.dueAt : (await stores().guard.getSuspension(suspension.suspensionId))?.dueAt;
      for (const kind of ['run', 'suspension'] as const) {
        const item = (due: number): DueItem =>
          kind === 'run' ? { kind, key: run, dueAt: due } : { kind, suspensionId: suspension.suspensionId, dueAt: due };
        expect(await runs().deferDue(item(10), 1_000, delays)).toBe(100);
        expect(await runs().deferDue(item(1_100), 1_200, delays)).toBe(200);
        expect(await runs().deferDue(item(1_400), 1_400, delays)).toBe(300);
        expect(await runs().deferDue(item(1_700), 2_000, delays)).toBe(300);
        expect(await dueAt(kind)).toBe(2_300);
        // Listed before it moved: left alone.
        expect(await runs().deferDue(item(1_700), 9_000, delays)).toBe(0);
        expect(await dueAt(kind)).toBe(2_300);
        if (kind === 'run') await runs().postponeRun(run, 0, 5_000);
        else await stores().guard.changeSuspension(suspension.suspensionId, { kind: 'due', dueAt: 5_000 });
        expect(await runs().deferDue(item(5_000), 6_000, delays)).toBe(100);
      }
    });
  });
}
