import { describe, expect, it } from 'vitest';
import { RUN_ITEM_BYTES } from '../../../lib/core/limits.ts';
import type { Run } from '../../../lib/core/loop/run.ts';
import type { RunStore } from '../../../lib/core/ports/run-store.ts';
import type { StoreSet } from '../../support/dynalite.ts';
import { type Abilities, everything, mainFrame, newApproval, newRun, newSession, newSuspension, newTenant, nextStep } from './samples.ts';

const at = (step: number, execution = 1, finish = false) => ({ step, execution, finish });

/** What any RunStore must do, transcripts apart. */
export function runStoreContract(stores: () => StoreSet, can: Abilities = everything): void {
  const runs = (): RunStore => stores().runs;
  const created = async (over: Partial<Run> = {}): Promise<Run> => (await runs().createRun(newRun(newTenant(), over))).run;

  describe('creating and starting a run', () => {
    it('keeps every value, whatever JSON it holds', async () => {
      const deep = Array.from({ length: 60 }).reduce<{ [key: string]: unknown }>((inner) => ({ '': inner }), {
        big: 1e300,
        tiny: 5e-324,
        exact: Number.MAX_SAFE_INTEGER,
      });
      const run = newRun(newTenant(), {
        guard: { 'a.b#c': { if: 1, '': '' } },
        stateChanges: { deep: JSON.parse(JSON.stringify(deep)) },
        storedChanges: { large: { stored: 5_000, at: 'MSG#value.a.0#000001#000001#a#' } },
        answer: '',
        input: '日本語 🎈\u0000',
      });
      await runs().createRun(run);
      expect(await runs().getRun(run)).toStrictEqual(run);
    });

    it('lets the first of two runs with one id stand', async () => {
      const first = newRun(newTenant(), { requestHash: 'one' });
      const second = { ...first, requestHash: 'two' };
      expect(await runs().createRun(first)).toMatchObject({ created: true });
      expect(await runs().createRun(second)).toMatchObject({ created: false, run: { requestHash: 'one' } });
    });

    it('finds no run of another tenant', async () => {
      const run = await created();
      expect(await runs().getRun({ tenant: newTenant(), runId: run.runId })).toBeUndefined();
    });

    it('marks only a starting run as running, once', async () => {
      const run = await created({ status: 'starting', runSeq: 0 });
      const running: Run = { ...run, status: 'running', runSeq: 4, frames: [{ ...mainFrame, head: 'MSG#main#000003#000001#x#' }] };
      expect(await runs().markRunning(running)).toBe(true);
      expect(await runs().markRunning({ ...running, runSeq: 5 })).toBe(false);
      expect(await runs().getRun(run)).toMatchObject({ status: 'running', runSeq: 4, frames: [{ head: 'MSG#main#000003#000001#x#' }] });
    });

    it('deletes a run only while it is starting', async () => {
      const [starting, running] = [await created({ status: 'starting' }), await created()];
      await runs().deleteStarting(starting);
      await runs().deleteStarting(running);
      expect(await runs().getRun(starting)).toBeUndefined();
      expect(await runs().getRun(running)).toBeDefined();
    });

    it('erases a run with its events, and nothing of another', async () => {
      const [gone, stays] = [await created(), await created()];
      for (const run of [gone, stays])
        await runs().write(run, run.sessionId, [], [{ type: 'run.started', at: 1, data: {}, step: 1, key: 'EVT#000001#0#0000' }]);
      await runs().eraseRun(gone);
      expect(await runs().getRun(gone)).toBeUndefined();
      expect(await runs().readEvents(gone, 0)).toEqual([]);
      expect(await runs().readEvents(stays, 0)).toHaveLength(1);
    });

    it('gives a session to exactly one of many runs that want it', async () => {
      const tenant = newTenant();
      const wanting = Array.from({ length: 5 }, () => newRun(tenant));
      const won = await Promise.all(wanting.map((run) => runs().swapSession(newSession(run), undefined)));
      expect(won.filter(Boolean)).toHaveLength(1);
      const holder = wanting[won.indexOf(true)];
      expect(await runs().getSession({ tenant, sessionId: 's-1' })).toMatchObject({ activeRun: holder?.runId });
    });

    it('keeps what a session shares, small values and the places of large ones', async () => {
      const run = newRun(newTenant());
      const shared = { state: { '': [null] }, stored: { large: { stored: 5_000, at: 'MSG#value.a.0#000001#000001#a#' } } };
      await runs().swapSession(newSession(run, shared), undefined);
      expect(await runs().getSession(run)).toStrictEqual(newSession(run, shared));
    });

    it('passes a session on only from the holder that was seen', async () => {
      const tenant = newTenant();
      const [first, second, third] = [newRun(tenant), newRun(tenant), newRun(tenant)];
      expect(await runs().swapSession(newSession(first), undefined)).toBe(true);
      expect(await runs().swapSession(newSession(second, { runSeq: 2 }), first.runId)).toBe(true);
      expect(await runs().swapSession(newSession(third, { runSeq: 2 }), first.runId)).toBe(false);
      expect(await runs().swapSession(newSession(third, { runSeq: 1 }), undefined)).toBe(false);
      expect(await runs().getSession({ tenant, sessionId: 's-1' })).toMatchObject({ activeRun: second.runId, runSeq: 2 });
    });
  });

  describe('the commit', () => {
    it('is won by exactly one of many attempts, and every loser is shown the winner', async () => {
      const run = await created();
      const outcomes = await Promise.all(Array.from({ length: 6 }, (_, n) => runs().commit(nextStep(run, `a${n}`), at(0))));
      expect(outcomes.filter((outcome) => outcome.committed)).toHaveLength(1);
      const winner = `a${outcomes.findIndex((outcome) => outcome.committed)}`;
      for (const outcome of outcomes) if (!outcome.committed) expect(outcome.run).toMatchObject({ step: 1, attempt: winner });
      expect(await runs().getRun(run)).toMatchObject({ step: 1, attempt: winner });
    });

    it('sets what has changed, removes what is no longer there and leaves the origin as it was', async () => {
      const run = await created({ plan: { next: 'wait', seconds: 1 } });
      const {
        plan: _plan,
        deadline: _deadline,
        dueAt: _dueAt,
        ...rest
      } = nextStep(run, 'b', { status: 'waiting', usage: { ...run.usage, costUsd: 1e-9 } });
      expect(await runs().commit({ ...rest, input: 'another input' }, at(0))).toEqual({ committed: true });
      expect(await runs().getRun(run)).toStrictEqual({ ...rest, input: run.input });
    });

    it('refuses another execution, an unknown run and a run that has ended', async () => {
      const run = await created({ execution: 2 });
      const ended = await created({ status: 'succeeded', step: 0 });
      expect(await runs().commit(nextStep(run, 'b'), at(0, 1))).toMatchObject({ committed: false, run: { step: 0 } });
      expect(await runs().commit(nextStep(ended, 'b'), at(0))).toMatchObject({ committed: false, run: { status: 'succeeded' } });
      expect(await runs().commit(nextStep(newRun(newTenant()), 'b'), at(0))).toEqual({ committed: false, run: undefined });
    });

    it('moves to a new execution', async () => {
      const run = await created();
      expect(await runs().commit(nextStep(run, 'b', { execution: 2 }), at(0, 1))).toEqual({ committed: true });
      expect(await runs().commit({ ...nextStep(run, 'c', { execution: 2 }), step: 2 }, at(1, 2))).toEqual({ committed: true });
    });

    it('loses against a request to cancel, which only the finish commit passes', async () => {
      const run = await created();
      await runs().requestCancel(run, 5_000, 'ann');
      const refused = await runs().commit(nextStep(run, 'b'), at(0));
      expect(refused).toMatchObject({ committed: false, run: { step: 0, cancelRequestedAt: 5_000 } });
      expect(await runs().commit(nextStep(run, 'b', { status: 'cancelled', outcome: 'cancelled' }), at(0, 1, true))).toEqual({
        committed: true,
      });
      expect(await runs().getRun(run)).toMatchObject({ status: 'cancelled', cancelRequestedAt: 5_000 });
    });

    it('races with cancel so that either order ends consistent', async () => {
      for (let round = 0; round < 10; round++) {
        const run = await created();
        const [outcome, cancelled] = await Promise.all([runs().commit(nextStep(run, 'b'), at(0)), runs().requestCancel(run, 7, 'ann')]);
        expect(cancelled?.cancelRequestedAt).toBe(7);
        expect(await runs().getRun(run)).toMatchObject({ cancelRequestedAt: 7, step: outcome.committed ? 1 : 0 });
      }
    });

    it.skipIf(!can.sizes)('refuses a run item that is too large before anything is written', async () => {
      const run = await created();
      const large = nextStep(run, 'b', { stateChanges: { text: 'ä'.repeat(RUN_ITEM_BYTES / 2) } });
      await expect(runs().commit(large, at(0))).rejects.toMatchObject({ code: 'RESOURCE_EXHAUSTED' });
      expect(await runs().getRun(run)).toStrictEqual(run);
    });

    it('stores no NaN and no Infinity', async () => {
      const run = await created();
      await expect(runs().commit(nextStep(run, 'b', { activeMs: Number.NaN }), at(0))).rejects.toThrow();
      await expect(
        runs().commit(nextStep(run, 'b', { usage: { ...run.usage, costUsd: Number.POSITIVE_INFINITY } }), at(0)),
      ).rejects.toThrow();
    });
  });

  describe('cancel and postpone', () => {
    it('keeps the first request to cancel and answers with the run', async () => {
      const run = await created();
      expect(await runs().requestCancel(run, 5, 'ann')).toMatchObject({ cancelRequestedAt: 5, cancelRequestedBy: 'ann' });
      expect(await runs().requestCancel(run, 6, 'bob')).toMatchObject({ cancelRequestedAt: 5, cancelRequestedBy: 'ann' });
    });

    it('leaves a run that has ended alone, and knows no unknown one', async () => {
      const run = await created({ status: 'failed' });
      const answer = await runs().requestCancel(run, 5, 'ann');
      expect(answer?.status).toBe('failed');
      expect(answer?.cancelRequestedAt).toBeUndefined();
      expect(await runs().requestCancel(newRun(newTenant()), 5, 'ann')).toBeUndefined();
    });

    it('postpones a run only at the step that was seen', async () => {
      const run = await created({ step: 3 });
      await runs().postponeRun(run, 2, 99_000);
      expect((await runs().getRun(run))?.dueAt).toBe(31_000);
      await runs().postponeRun(run, 3, 99_000);
      expect((await runs().getRun(run))?.dueAt).toBe(99_000);
    });

    it('does not bring a run that has ended back to sweep', async () => {
      const { dueAt: _dueAt, ...ended } = newRun(newTenant(), { status: 'succeeded', step: 3 });
      await runs().createRun(ended);
      await runs().postponeRun(ended, 3, 99_000);
      expect((await runs().getRun(ended))?.dueAt).toBeUndefined();
    });
  });

  describe('loadStep', () => {
    it('reads run, policies, permits and suspension together', async () => {
      const run = await created();
      const policy = { v: 1, version: 1, guard: { tool_policy: { x: 'deny' } }, updatedAt: 1, updatedBy: 'me' } as const;
      const suspension = newSuspension(run.tenant, [newApproval('c3-0')]);
      await stores().guard.putPolicy(run.tenant, policy);
      await stores().guard.openSuspension(suspension);
      const inputs = await runs().loadStep(run, suspension.suspensionId);
      expect(inputs.run).toStrictEqual(run);
      expect(inputs.policies).toContainEqual(policy);
      expect(inputs.permits).toEqual(await stores().guard.getPermits());
      expect(inputs.suspension).toMatchObject({ suspensionId: suspension.suspensionId });
    });

    it('says what is not there', async () => {
      const run = newRun(newTenant());
      expect(await runs().loadStep(run, `${run.runId}-1`)).toMatchObject({ run: undefined, suspension: undefined });
    });
  });
}
