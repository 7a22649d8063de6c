import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { updatePermits } from '../../lib/core/hands/permits.ts';
import { QUEUE } from '../../lib/core/limits.ts';
import { defaultLevels, type Job, LEASE_MS, simulate } from '../support/permits-simulation.ts';
import { seededRandom } from '../support/time.ts';

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
        expect(report.exceeded).toBe(0);
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
    const report = simulate(jobs, defaultLevels);
    expect(report).toMatchObject({ exceeded: 0, served: 200, timedOut: 0, abandoned: 0 });
    expect(report.worstWait).toBeLessThan(QUEUE.waitMs);
    expect(report.permits.leases).toEqual([]);
    expect(report.permits.waiting).toEqual([]);
  });

  it('hold also where reads and writes of the item take time and meet each other', () => {
    const job = fc.record({
      start: fc.integer({ min: 0, max: 300 }),
      calls: fc.array(fc.constant({ category: 'code', tool: 'python', ms: 100 }), { minLength: 1, maxLength: 3 }),
      dies: fc.constant(false),
    });
    fc.assert(
      fc.property(fc.array(job, { minLength: 2, maxLength: 12 }), fc.integer({ min: 1, max: 30 }), fc.nat(), (jobs, latencyMs, seed) => {
        const random = seededRandom(seed);
        const report = simulate(jobs, defaultLevels, { latencyMs, random: () => random.number() });
        expect(report.exceeded).toBe(0);
        expect(report.served + report.timedOut + report.abandoned).toBe(jobs.flatMap(({ calls }) => calls).length);
        expect(report.permits.leases).toEqual([]);
      }),
      { numRuns: 100 },
    );
  });
});
