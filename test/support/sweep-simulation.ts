import { SWEEP } from '../../lib/core/limits.ts';
import type { Run } from '../../lib/core/loop/run.ts';
import { type SweepReport, sweep } from '../../lib/core/loop/sweep.ts';
import { openSuspension, T0, waitingRun } from './guard.ts';
import { LoopRig } from './loop-rig.ts';
import { type MemoryStores, memoryStores } from './memory-stores.ts';
import { VirtualClock } from './time.ts';

export interface Minute {
  readonly report: SweepReport;
  /** Items that are still due when the pass has ended, and how long the oldest of them has been, ms. */
  readonly due: number;
  readonly lateMs: number;
  readonly pending: number;
}

export interface SweepSimulation {
  readonly stores: MemoryStores;
  /** Sweeps as the function does, every minute. */
  play(minutes: number): Promise<Minute[]>;
}

/** What the services are taken to need, ms. */
const TABLE_MS = 8;
const ENGINE_MS = 40;
const ENGINE: readonly string[] = ['start', 'status', 'sendTaskSuccess'];
const MINUTE_MS = 60_000;

/** So many runs that wait for a person, each with its suspension and its token, on a clock that runs by itself. */
export function simulateWaiting(count: number, of: (n: number) => { readonly dueAt: number; readonly expiresAt: number }): SweepSimulation {
  const clock = new VirtualClock(T0);
  const stores = memoryStores((operation) => clock.sleep(ENGINE.includes(operation) ? ENGINE_MS : TABLE_MS));
  for (let n = 0; n < count; n++) {
    const { dueAt, expiresAt } = of(n);
    const runId = `r-${String(n).padStart(26, '0')}`;
    const [suspensionId, execution, token] = [`${runId}-3`, `${runId}-1`, `token-${n}`];
    const run: Run = waitingRun({ runId, plan: { next: 'suspend', suspensionId }, dueAt });
    const { approvals, ...rest } = openSuspension(['c3-0']);
    const lasting = Object.entries(approvals).map(([callId, approval]) => [callId, { ...approval, expiresAt }]);
    const tokens = [{ token, execution, at: T0 }];
    stores.state.runs.set(`t1#${runId}`, run);
    stores.state.suspensions.set(suspensionId, {
      ...rest,
      ...{ runId, suspensionId, tokens, dueAt: expiresAt, notifiedAt: T0 },
      approvals: Object.fromEntries(lasting),
    });
    stores.engine.executions.set(execution, 'running');
    stores.engine.waiting.add(token);
  }
  const deps = { ...new LoopRig().deps, runs: stores.runs, guard: stores.guard, engine: stores.engine, clock };
  return {
    stores,
    async play(minutes) {
      const played: Minute[] = [];
      for (let n = 0; n < minutes; n++) {
        const next = clock.now() + MINUTE_MS;
        const report = await sweep(deps, { until: clock.now() + SWEEP.itemsMs, runsPerSecond: SWEEP.runsPerSecond });
        played.push({ report, ...standing(stores, clock.now()) });
        await clock.sleep(next - clock.now());
      }
      return played;
    },
  };
}

function standing({ state }: MemoryStores, now: number): Omit<Minute, 'report'> {
  const due = [...state.runs.values(), ...state.suspensions.values()].flatMap(({ dueAt }) =>
    dueAt !== undefined && dueAt <= now ? [dueAt] : [],
  );
  const pending = [...state.suspensions.values()].filter(({ approvals }) => approvals['c3-0']?.status === 'pending').length;
  return { due: due.length, lateMs: due.length === 0 ? 0 : now - due.reduce((a, b) => Math.min(a, b)), pending };
}
