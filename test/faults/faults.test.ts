import { describe, expect, it } from 'vitest';
import { playSchedule } from '../support/schedule.ts';

const SEEDS = 2_000;

describe('a run under faults', () => {
  it('ends, answers every call once and runs nothing twice, whatever is killed, doubled, delayed or lost', {
    timeout: 400_000,
  }, async () => {
    const broken: unknown[] = [];
    for (let seed = 1; seed <= SEEDS && broken.length < 5; seed++) {
      const report = await playSchedule(seed);
      if (report.violations.length > 0) broken.push(report);
    }
    expect(broken).toEqual([]);
  });

  it('survives one kill at each operation in turn', { timeout: 400_000 }, async () => {
    const broken: unknown[] = [];
    for (const seed of [3, 11, 42, 77]) {
      const { operations } = await playSchedule(seed, []);
      for (let at = 0; at < operations && broken.length < 5; at++) {
        const report = await playSchedule(seed, [at]);
        if (report.violations.length > 0) broken.push({ at, ...report });
      }
    }
    expect(broken).toEqual([]);
  });
});
