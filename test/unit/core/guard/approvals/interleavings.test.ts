import { describe, expect, it } from 'vitest';
import { decide } from '../../../../../lib/core/guard/approvals/decide.ts';
import { deliver } from '../../../../../lib/core/guard/approvals/deliver.ts';
import type { ApprovalDeps } from '../../../../../lib/core/guard/approvals/deps.ts';
import { cancelPending, sweepSuspension } from '../../../../../lib/core/guard/approvals/expire.ts';
import { suspend } from '../../../../../lib/core/guard/approvals/suspend.ts';
import type { Suspension } from '../../../../../lib/core/guard/approvals/suspension.ts';
import { createRegistry } from '../../../../../lib/core/hands/registry.ts';
import { approvalIdOf, executionName } from '../../../../../lib/core/ids.ts';
import { silentLogger } from '../../../../../lib/core/ports/logger.ts';
import type { RunStore } from '../../../../../lib/core/ports/run-store.ts';
import { openSuspension, RUN_ID, SUSPENSION_ID, T0, TTL_MS, waitingRun } from '../../../../support/guard.ts';
import { everyInterleaving, someInterleaving, type World } from '../../../../support/interleave.ts';
import type { Gate } from '../../../../support/memory-state.ts';
import { type MemoryStores, memoryStores } from '../../../../support/memory-stores.ts';
import { seededRandom, TestClock } from '../../../../support/time.ts';

const EXECUTION = executionName(RUN_ID, 1);
const key = { tenant: 't1', runId: RUN_ID };

type Deps = ApprovalDeps & { runs: RunStore };
type Actor = (deps: Deps, stores: MemoryStores) => Promise<unknown>;

const decider =
  (decision: 'approve' | 'reject', callIds: string[], principal: string): Actor =>
  async (deps) => {
    const decisions = callIds.map((callId) => ({ approvalId: approvalIdOf(SUSPENSION_ID, callId), decision }));
    // Who comes second is told so; what counts is what stands afterwards.
    const config = { approvals: { self_approve: true } };
    await decide({ ...deps, config, registry: createRegistry([]) }, { tenant: 't1', principal, how: 'api', decisions }).catch(
      expectedRefusal,
    );
  };

/** The suspend λ of one task attempt. */
const suspender =
  (token: string): Actor =>
  async (deps, stores) => {
    stores.engine.waiting.add(token);
    await suspend(deps, { ctx: { ...key, step: 3 }, token, execution: EXECUTION });
  };

/** A task attempt that died after it had handed in its token, then the one that came after it. */
const retriedSuspender: Actor = async (deps, stores) => {
  await deps.guard.changeSuspension(SUSPENSION_ID, { kind: 'token', token: 'dead', execution: EXECUTION, now: T0 });
  await suspender('alive')(deps, stores);
};

const sweeper: Actor = (deps) => sweepSuspension(deps, SUSPENSION_ID);

const canceller: Actor = async (deps) => {
  await deps.runs.requestCancel(key, T0, 'ann');
  const suspension = await deps.guard.getSuspension(SUSPENSION_ID);
  if (suspension) await deliver(deps, await cancelPending(deps, suspension, 'bob'));
};

function expectedRefusal(error: unknown): void {
  if (!(error instanceof Error && 'code' in error && ['ALREADY_DECIDED', 'EXPIRED'].includes(String(error.code)))) throw error;
}

interface Scene {
  readonly actors: readonly Actor[];
  readonly callIds?: readonly string[];
  /** The time to decide ends at some point. */
  readonly timeIsUp?: boolean;
  /** `dead`: actors that died. */
  readonly check?: (suspension: Suspension, dead: readonly number[]) => void;
}

function sceneOf({ actors, callIds = ['c3-0'], timeIsUp = false, check }: Scene): () => Promise<World> {
  return async () => {
    const stores = memoryStores();
    const clock = new TestClock(T0);
    stores.state.runs.set(`t1#${RUN_ID}`, waitingRun());
    stores.engine.executions.set(EXECUTION, 'running');
    await stores.guard.openSuspension(openSuspension(callIds));
    const depsOf = (gate: Gate) => ({ ...stores.through(gate), clock, logger: silentLogger });
    const time = async (gate: Gate) => {
      await gate('time passes');
      clock.advance(TTL_MS);
    };
    return {
      actors: [...actors.map((actor) => (gate: Gate) => actor(depsOf(gate), stores)), ...(timeIsUp ? [time] : [])],
      check: async (dead) => {
        const alive = actors.filter((_actor, index) => !dead.includes(index));
        await comeToRest(
          alive,
          depsOf(async () => undefined),
          stores,
          clock,
        );
        check?.(await verify(stores), dead);
      },
    };
  };
}

/** What the service does in the end: a task that has died (or was not there yet) hands in a token; sweep comes by, twice. */
async function comeToRest(alive: readonly Actor[], deps: Deps, stores: MemoryStores, clock: TestClock): Promise<void> {
  if (!alive.some((actor) => SUSPENDERS.has(actor)) && stores.engine.answered.length === 0) {
    stores.engine.waiting.clear();
    await suspender('last')(deps, stores);
  }
  for (let time = 0; time < 2; time++) {
    clock.advance(TTL_MS);
    for (const item of (await stores.runs.due('suspension', clock.now(), { limit: 10 })).items)
      if (item.kind === 'suspension') await sweepSuspension(deps, item.suspensionId);
  }
}

/** What must hold however it went: everything decided, the waiting task woken, each decision told once. */
async function verify(stores: MemoryStores): Promise<Suspension> {
  const suspension = stores.state.suspensions.get(SUSPENSION_ID);
  if (!suspension) throw new Error('the suspension is gone');
  const approvals = Object.values(suspension.approvals);
  expect(approvals.filter(({ status }) => status === 'pending')).toEqual([]);
  expect([...stores.engine.waiting]).toEqual([]);
  expect(stores.engine.answered).toEqual([{ token: expect.any(String), output: { suspensionId: SUSPENSION_ID } }]);
  const events = await stores.runs.readEvents(key, 0);
  const told = events.filter(({ type }) => type === 'approval.resolved').map(({ data, at }) => [data['callId'], data['status'], at]);
  expect(told).toEqual(approvals.map(({ callId, status, decision }) => [callId, status, decision?.at]));
  return suspension;
}

const suspendOnce = suspender('alive');
const SUSPENDERS = new Set<Actor>([suspendOnce, retriedSuspender]);
const approve = decider('approve', ['c3-0'], 'alice');
const reject = decider('reject', ['c3-0'], 'bob');

describe('a suspension under every order of events', () => {
  it('a decision and the token: the run is woken, whichever comes first', async () => {
    const orders = await everyInterleaving(
      sceneOf({ actors: [approve, suspendOnce], check: ({ approvals }) => expect(approvals['c3-0']?.status).toBe('approved') }),
    );
    expect(orders).toBeGreaterThan(40);
  });

  it('either of them dies at any point: the task is tried again, or sweep delivers', async () => {
    await everyInterleaving(sceneOf({ actors: [approve, suspendOnce] }), { deaths: 1 });
  });

  it('a token of an attempt that died is among them', async () => {
    await everyInterleaving(sceneOf({ actors: [approve, retriedSuspender] }));
  });

  it('two people decide differently: one of them wins, whole', async () => {
    const callIds = ['c3-0', 'c3-1'];
    const actors = [decider('approve', callIds, 'alice'), decider('reject', callIds, 'bob')];
    const both = ({ approvals }: Suspension) => {
      const made = Object.values(approvals).map(({ status, decision }) => `${status} by ${decision?.by}`);
      expect([
        ['approved by alice', 'approved by alice'],
        ['rejected by bob', 'rejected by bob'],
      ]).toContainEqual(made);
    };
    await everyInterleaving(sceneOf({ actors, callIds, check: both }));
    const random = seededRandom(7);
    const scene = sceneOf({ actors: [...actors, suspendOnce], callIds, check: both });
    for (let time = 0; time < 500; time++) await someInterleaving(await scene(), 0, () => random.number());
  });

  it('two people decide a call each', async () => {
    const callIds = ['c3-0', 'c3-1'];
    const scene = sceneOf({
      actors: [approve, decider('reject', ['c3-1'], 'bob'), suspendOnce],
      callIds,
      check: ({ approvals }, dead) => {
        const made = Object.values(approvals).map(({ status }) => status);
        expect(made).toEqual(
          ['approved', 'rejected'].map((status, index) => (dead.includes(index) ? expect.stringMatching(`${status}|expired`) : status)),
        );
      },
    });
    const random = seededRandom(8);
    for (let time = 0; time < 500; time++) await someInterleaving(await scene(), time % 2, () => random.number());
  });

  it('the time to decide ends in between: approved or expired, never both', async () => {
    await everyInterleaving(
      sceneOf({
        actors: [approve, suspendOnce],
        timeIsUp: true,
        check: ({ approvals }) => expect(approvals['c3-0']?.status).toMatch(/^(approved|expired)$/),
      }),
    );
  });

  it('the run is cancelled: nothing stays pending', async () => {
    await everyInterleaving(
      sceneOf({
        actors: [canceller, suspendOnce],
        check: ({ approvals }, dead) =>
          expect(approvals['c3-0']?.status).toMatch(dead.includes(0) ? /^(cancelled|expired)$/ : /^cancelled$/),
      }),
      { deaths: 1 },
    );
  });

  it('sweep, a decision, another, a cancellation, the token and the end of time, with a death', async () => {
    const random = seededRandom(9);
    const scene = sceneOf({ actors: [approve, reject, canceller, suspendOnce, sweeper], timeIsUp: true });
    for (let time = 0; time < 1000; time++) await someInterleaving(await scene(), time % 2, () => random.number());
  });
});
