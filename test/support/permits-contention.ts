import { setTimeout as pause } from 'node:timers/promises';
import { levelsOf, updatePermits } from '../../lib/core/hands/permits.ts';
import { PERMIT_CONFLICTS } from '../../lib/core/limits.ts';
import type { GuardStore } from '../../lib/core/ports/guard-store.ts';
import { defaultLevels } from './permits-simulation.ts';

const KINDS = [
  { category: 'file', name: 'read' },
  { category: 'network', name: 'fetch' },
  { category: 'memory', name: 'memory' },
  { category: 'code', name: 'python' },
] as const;
const POLL_MS = 500;
const CONFLICT_PAUSE_MS = 25;
/** The queue's 30 s must not depend on how fast this machine is. */
const SLOWED = 10;

export interface Contention {
  /** Calls that got their permits, a second of real time. */
  readonly perSecond: number;
  /** Times that a level held more than its limit. */
  readonly exceeded: number;
  /** Calls that gave up: queue full, or waited too long. */
  readonly starved: number;
  readonly served: number;
  /** Writes that found another version of the item. */
  readonly conflicts: number;
  /** What is left in the item at the end. */
  readonly left: number;
}

/**
 * `runs` at once, each with four calls of four kinds one after another, over the one item of a real table: they read it, change
 * it, write it if it is still the same, and wait when they must, as `takePermits` does.
 */
export async function contend(guard: Pick<GuardStore, 'getPermits' | 'putPermits'>, runs: number): Promise<Contention> {
  const began = performance.now();
  const now = (): number => (performance.now() - began) / SLOWED;
  const held = new Map<string, number>();
  const report = { exceeded: 0, starved: 0, served: 0, conflicts: 0 };
  const count = (levels: readonly string[], by: 1 | -1): void => {
    for (const level of levels) {
      const used = (held.get(level) ?? 0) + by;
      held.set(level, used);
      if (used > (defaultLevels.get(level) ?? Number.POSITIVE_INFINITY)) report.exceeded++;
    }
  };

  const change = async (request: Omit<Parameters<typeof updatePermits>[1], 'now' | 'attempt' | 'limits' | 'nextPoll'>) => {
    for (let conflicts = 0; conflicts <= PERMIT_CONFLICTS; conflicts++) {
      const at = now();
      const outcome = updatePermits(await guard.getPermits(), {
        ...request,
        now: at,
        attempt: 'a',
        nextPoll: at + POLL_MS / SLOWED,
        limits: defaultLevels,
      });
      if (!outcome.changed || (await guard.putPermits(outcome.next))) return outcome;
      report.conflicts++;
      await pause(CONFLICT_PAUSE_MS * (1 + conflicts) * Math.random());
    }
    return undefined;
  };

  const call = async (run: string, index: number, kind: (typeof KINDS)[number]): Promise<void> => {
    const key = `${run}#c1-${index}`;
    const levels = levelsOf(kind);
    let since: number | undefined;
    for (;;) {
      const outcome = await change({ run, giveBack: [], want: [{ key, levels, leaseUntil: now() + 60_000, since }] });
      if (outcome?.granted.includes(key)) break;
      if (outcome?.full.includes(key) || outcome?.timedOut.includes(key)) return void report.starved++;
      since ??= now();
      await pause(POLL_MS);
    }
    count(levels, 1);
    await pause(5);
    count(levels, -1);
    report.served++;
    while (!(await change({ run, giveBack: [`${key}#a`], want: [] }))) await pause(CONFLICT_PAUSE_MS);
  };

  await Promise.all(
    Array.from({ length: runs }, async (_, n) => {
      for (let index = 0; index < KINDS.length; index++) await call(`r-${n}`, index, KINDS[(n + index) % KINDS.length] ?? KINDS[0]);
    }),
  );
  const { leases, waiting } = await guard.getPermits();
  const perSecond = Math.round(report.served / ((performance.now() - began) / 1_000));
  return { ...report, perSecond, left: leases.length + waiting.length };
}
