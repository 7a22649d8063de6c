import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { updatePermits } from '../../lib/core/hands/permits.ts';
import { noPermits, type Permits } from '../../lib/core/hands/permits-item.ts';
import { QUEUE } from '../../lib/core/limits.ts';

interface Job {
  /** ms since the start when the run makes its batch. */
  readonly start: number;
  readonly calls: readonly { readonly category: string; readonly tool: string; readonly ms: number }[];
  /** Calls are made one after another, each when the last has ended, instead of as one batch. */
  readonly oneByOne?: boolean;
  /** The run dies after its first dispatch and gives nothing back. */
  readonly dies: boolean;
}

interface Report {
  served: number;
  timedOut: number;
  abandoned: number;
  worstWait: number;
  polls: number;
  writes: number;
  permits: Permits;
  end: number;
}

const LEASE_MS = 20_000;

/** Runs in virtual time, as `reason` would ask: what is granted runs as one stage; when nothing is, the run polls after a second. */
function simulate(jobs: readonly Job[], limits: ReadonlyMap<string, number>): Report {
  const report: Report = { served: 0, timedOut: 0, abandoned: 0, worstWait: 0, polls: 0, writes: 0, permits: noPermits, end: 0 };
  const events: { at: number; act: (now: number) => void }[] = [];
  const after = (at: number, act: (now: number) => void): void => void events.push({ at, act });

  jobs.forEach((job, index) => {
    const run = `r${index}`;
    const open = new Map(job.calls.map((call, n) => [`${run}#c1-${n}`, { ...call, since: undefined as number | undefined, asked: -1 }]));
    const step = (now: number, giveBack: readonly string[], poll: number): void => {
      const nextPoll = now + 1_000 * QUEUE.pollSeconds;
      const want = [...open].slice(0, job.oneByOne ? 1 : open.size).map(([key, call]) => ({
        key,
        levels: ['global', `category:${call.category}`, `tool:${call.tool}`],
        leaseUntil: now + LEASE_MS,
        since: call.since,
      }));
      const outcome = updatePermits(report.permits, { now, run, attempt: 'a', giveBack, want, nextPoll, limits });
      const answered = [...outcome.granted, ...outcome.waiting, ...outcome.later, ...outcome.full, ...outcome.timedOut];
      if (answered.length !== want.length || want.some(({ key }) => !answered.includes(key)))
        throw new Error(`not each call got one answer: ${answered}`);
      report.permits = outcome.next;
      report.polls += 1;
      if (outcome.changed) report.writes += 1;
      neverExceeded(report.permits, limits, now);
      for (const key of [...outcome.timedOut, ...outcome.full]) open.delete(key);
      report.timedOut += outcome.timedOut.length;
      report.abandoned += outcome.full.length;
      for (const key of outcome.waiting) {
        const call = open.get(key);
        if (call) call.since ??= now;
      }
      for (const key of outcome.later) {
        const call = open.get(key);
        if (call) call.since = undefined;
      }
      if (outcome.granted.length > 0) dispatch(now, outcome.granted);
      else if (open.size > 0) after(nextPoll, (later) => step(later, [], outcome.waiting.length > 0 ? poll + 1 : 0));
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
        after(end, (later) =>
          step(
            later,
            granted.map((key) => `${key}#a`),
            0,
          ),
        );
    };
    after(job.start, (now) => step(now, [], 0));
  });

  while (events.length > 0) {
    events.sort((a, b) => a.at - b.at);
    const event = events.shift();
    if (!event) break;
    report.end = event.at;
    event.act(event.at);
  }
  return report;
}

function neverExceeded(permits: Permits, limits: ReadonlyMap<string, number>, now: number): void {
  const used = new Map<string, number>();
  for (const lease of permits.leases) if (lease.until > now) for (const level of lease.levels) used.set(level, (used.get(level) ?? 0) + 1);
  for (const [level, count] of used) if (count > (limits.get(level) ?? Number.POSITIVE_INFINITY)) throw new Error(`${count} hold ${level}`);
  if (permits.waiting.length > QUEUE.depth) throw new Error('the queue is too long');
  if (new Set(permits.leases.map(({ key }) => key)).size !== permits.leases.length) throw new Error('a lease was taken twice');
}

const seeded = new Map([
  ['global', 10],
  ['category:file', 5],
  ['category:network', 3],
  ['category:code', 2],
  ['category:memory', 8],
  ['tool:fetch', 2],
  ['tool:python', 1],
]);

describe('permits over many runs', () => {
  it('are never exceeded, serve everyone who can be served, and leave nothing behind', () => {
    const call = fc.record({
      category: fc.constantFrom('file', 'code', 'network'),
      tool: fc.constantFrom('read', 'python', 'fetch'),
      ms: fc.integer({ min: 1, max: 3_000 }),
    });
    const job = fc.record({
      start: fc.integer({ min: 0, max: 8_000 }),
      calls: fc.array(call, { minLength: 1, maxLength: 6 }),
      dies: fc.constantFrom(false, false, false, true),
    });
    const level = fc.integer({ min: 1, max: 4 });
    fc.assert(
      fc.property(fc.array(job, { maxLength: 15 }), fc.tuple(level, level, level, level), (jobs, [global, code, network, python]) => {
        const limits = new Map([
          ['global', global],
          ['category:code', code],
          ['category:network', network],
          ['tool:python', python],
        ]);
        const report = simulate(jobs, limits);
        expect(report.served + report.timedOut + report.abandoned).toBe(jobs.flatMap(({ calls }) => calls).length);
        expect(report.worstWait).toBeLessThan(QUEUE.waitMs + 5_000);
        const idle = { run: 'sweep', attempt: 'a', giveBack: [], want: [], limits };
        const swept = updatePermits(report.permits, { ...idle, now: report.end + LEASE_MS + 60_000, nextPoll: 0 });
        expect(swept.next).toMatchObject({ leases: [], waiting: [] });
      }),
      { numRuns: 200 },
    );
  });

  it('50 runs with 200 calls under the default limits: everyone served in time, nothing left', () => {
    const kinds = [
      { category: 'file', tool: 'read', ms: 50 },
      { category: 'network', tool: 'fetch', ms: 300 },
      { category: 'memory', tool: 'memory', ms: 20 },
      { category: 'code', tool: 'shell', ms: 300 },
    ] as const;
    const jobs = Array.from(
      { length: 50 },
      (_, n): Job => ({
        start: n * 200,
        calls: kinds.map((_kind, i) => kinds[(n + i * (n % 2 === 0 ? 1 : 3)) % 4] ?? kinds[0]),
        oneByOne: true,
        dies: false,
      }),
    );
    const report = simulate(jobs, seeded);
    expect(report).toMatchObject({ served: 200, timedOut: 0, abandoned: 0 });
    expect(report.worstWait).toBeLessThan(QUEUE.waitMs);
    expect(report.permits.leases).toEqual([]);
    expect(report.permits.waiting).toEqual([]);
  });
});
