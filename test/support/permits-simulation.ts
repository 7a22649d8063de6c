import { updatePermits } from '../../lib/core/hands/permits.ts';
import { noPermits, type Permits } from '../../lib/core/hands/permits-item.ts';
import { PERMIT_CONFLICTS, QUEUE } from '../../lib/core/limits.ts';

export interface Job {
  /** ms since the start when the run makes its batch. */
  readonly start: number;
  readonly calls: readonly { readonly category: string; readonly tool: string; readonly ms: number }[];
  /** Calls are made one after another, each when the last has ended, instead of as one batch. */
  readonly oneByOne?: boolean;
  /** The run dies after its first dispatch and gives nothing back. */
  readonly dies: boolean;
}

export interface Report {
  served: number;
  timedOut: number;
  /** Found the queue full, or belonged to a run that died. */
  abandoned: number;
  /** Moments at which a level held more than its limit. */
  exceeded: number;
  worstWait: number;
  polls: number;
  writes: number;
  /** Writes that found another version. */
  conflicts: number;
  permits: Permits;
  end: number;
}

/** How the table behaves: without it a write takes no time and never meets another. */
export interface Table {
  /** ms from reading the item to the write reaching it. */
  readonly latencyMs: number;
  /** In [0, 1). */
  random(): number;
}

export const LEASE_MS = 20_000;
/** As in `core/loop/permits.ts`. */
const CONFLICT_PAUSE_MS = 25;

/** The levels of the default configuration, with tools of these tests. */
export const defaultLevels: ReadonlyMap<string, number> = new Map([
  ['global', 10],
  ['category:file', 5],
  ['category:network', 3],
  ['category:code', 2],
  ['category:memory', 8],
  ['tool:fetch', 2],
  ['tool:python', 1],
]);

interface World {
  readonly report: Report;
  readonly limits: ReadonlyMap<string, number>;
  readonly table: Table | undefined;
  at(time: number, act: (now: number) => void): void;
}

/** Runs in virtual time, as `reason` would ask: what is granted runs as one stage; when nothing is, the run polls after a second. */
export function simulate(jobs: readonly Job[], limits: ReadonlyMap<string, number>, table?: Table): Report {
  const report: Report = {
    ...{ served: 0, timedOut: 0, abandoned: 0, exceeded: 0, worstWait: 0, polls: 0, writes: 0, conflicts: 0 },
    permits: noPermits,
    end: 0,
  };
  const events: { at: number; act: (now: number) => void }[] = [];
  const world: World = { report, limits, table, at: (at, act) => void events.push({ at, act }) };
  for (const [index, job] of jobs.entries()) startRun(world, `r${index}`, job);
  while (events.length > 0) {
    events.sort((a, b) => a.at - b.at);
    const event = events.shift();
    if (!event) break;
    report.end = event.at;
    event.act(event.at);
  }
  return report;
}

type Open = Map<string, Job['calls'][number] & { since: number | undefined }>;

function startRun(world: World, run: string, job: Job): void {
  const { report, table } = world;
  const open: Open = new Map(job.calls.map((call, n) => [`${run}#c1-${n}`, { ...call, since: undefined }]));
  const ask = (now: number, giveBack: readonly string[], tries = 0): void => {
    const nextPoll = now + 1_000 * QUEUE.pollSeconds;
    const want = [...open].slice(0, job.oneByOne ? 1 : open.size).map(([key, call]) => ({
      key,
      levels: ['global', `category:${call.category}`, `tool:${call.tool}`],
      leaseUntil: now + LEASE_MS,
      since: call.since,
    }));
    const outcome = updatePermits(report.permits, { now, run, attempt: 'a', giveBack, want, nextPoll, limits: world.limits });
    report.polls += 1;
    const settle = (at: number): void => {
      if (outcome.changed && report.permits.ver !== outcome.next.ver - 1) {
        report.conflicts += 1;
        if (tries < PERMIT_CONFLICTS)
          world.at(at + CONFLICT_PAUSE_MS * (1 + tries) * (table?.random() ?? 0), (later) => ask(later, giveBack, tries + 1));
        else world.at(at + 1_000 * QUEUE.pollSeconds, (later) => ask(later, giveBack));
        return;
      }
      report.permits = outcome.next;
      if (outcome.changed) report.writes += 1;
      report.exceeded += exceededLevels(report.permits, world.limits, at);
      take(at, outcome);
      if (outcome.granted.length > 0) dispatch(at, outcome.granted);
      else if (open.size > 0) world.at(nextPoll, (later) => ask(later, []));
    };
    checkAnswers(want, outcome);
    if (table && outcome.changed) world.at(now + table.latencyMs, settle);
    else settle(now);
  };
  const take = (now: number, outcome: ReturnType<typeof updatePermits>): void => {
    for (const key of [...outcome.timedOut, ...outcome.full]) open.delete(key);
    report.timedOut += outcome.timedOut.length;
    report.abandoned += outcome.full.length;
    for (const [key, call] of open) {
      if (outcome.waiting.includes(key)) call.since ??= now;
      if (outcome.later.includes(key)) call.since = undefined;
    }
  };
  const dispatch = (now: number, granted: readonly string[]): void => {
    let end = now;
    for (const key of granted) {
      const call = open.get(key);
      if (!call) throw new Error(`${key} was granted twice`);
      report.served += 1;
      report.worstWait = Math.max(report.worstWait, now - (call.since ?? now));
      end = Math.max(end, now + call.ms);
      open.delete(key);
    }
    if (job.dies) report.abandoned += open.size;
    else
      world.at(end, (later) =>
        ask(
          later,
          granted.map((key) => `${key}#a`),
        ),
      );
  };
  world.at(job.start, (now) => ask(now, []));
}

function checkAnswers(want: readonly { readonly key: string }[], outcome: ReturnType<typeof updatePermits>): void {
  const answered = [...outcome.granted, ...outcome.waiting, ...outcome.later, ...outcome.full, ...outcome.timedOut];
  if (answered.length !== want.length || want.some(({ key }) => !answered.includes(key)))
    throw new Error(`not each call got one answer: ${answered}`);
}

function exceededLevels(permits: Permits, limits: ReadonlyMap<string, number>, now: number): number {
  const used = new Map<string, number>();
  for (const lease of permits.leases) if (lease.until > now) for (const level of lease.levels) used.set(level, (used.get(level) ?? 0) + 1);
  if (permits.waiting.length > QUEUE.depth) throw new Error('the queue is too long');
  if (new Set(permits.leases.map(({ key }) => key)).size !== permits.leases.length) throw new Error('a lease was taken twice');
  return [...used].filter(([level, count]) => count > (limits.get(level) ?? Number.POSITIVE_INFINITY)).length;
}
