import { describe, expect, it } from 'vitest';
import { defineTool } from '../../../../lib/core/hands/define-tool.ts';
import { concurrencyLimits, levelsOf, type PermitRequest, updatePermits } from '../../../../lib/core/hands/permits.ts';
import { noPermits, type Permits, permitsSchema } from '../../../../lib/core/hands/permits-item.ts';

const CODE = ['global', 'category:code'];
const FILE = ['global', 'category:file'];
const limits = new Map([
  ['global', 10],
  ['category:code', 2],
  ['category:file', 5],
]);

function ask(permits: Permits, run: string, more: Partial<PermitRequest> & { levels?: string[]; calls?: number[] } = {}) {
  const { levels = CODE, calls = [0], ...request } = more;
  const now = request.now ?? 1_000;
  const outcome = updatePermits(permits, {
    now,
    run,
    attempt: 'a',
    giveBack: [],
    want: calls.map((n) => ({ key: `${run}#c1-${n}`, levels, leaseUntil: now + 60_000 })),
    nextPoll: now + 1_000,
    limits,
    ...request,
  });
  permitsSchema.parse(outcome.next);
  expect(outcome.next.ver).toBe(permits.ver + (outcome.changed ? 1 : 0));
  return outcome;
}

const back = (run: string, ...calls: number[]): string[] => calls.map((n) => `${run}#c1-${n}#a`);

describe('permits', () => {
  it('grants up to the limit; the rest of the run’s calls come later, not into the queue', () => {
    const { next, granted, later, waiting } = ask(noPermits, 'r1', { calls: [0, 1, 2] });
    expect([granted, later, waiting]).toEqual([['r1#c1-0', 'r1#c1-1'], ['r1#c1-2'], []]);
    expect(next.leases).toEqual([
      { key: 'r1#c1-0#a', run: 'r1', levels: CODE, until: 61_000 },
      { key: 'r1#c1-1#a', run: 'r1', levels: CODE, until: 61_000 },
    ]);
    expect(next.waiting).toEqual([]);
  });

  it('a run that dispatches nothing waits; one that dispatches something else does not', () => {
    const { next } = ask(noPermits, 'r1', { calls: [0, 1] });
    expect(ask(next, 'r2').waiting).toEqual(['r2#c1-0']);
    expect(ask(next, 'r2', { dispatching: true })).toMatchObject({ later: ['r2#c1-0'], waiting: [], changed: false });
    expect(ask(next, 'r2').next.waiting).toEqual([{ key: 'r2#c1-0', run: 'r2', levels: CODE, since: 1_000, until: 7_000 }]);
  });

  it('gives back and takes in one change', () => {
    const { next } = ask(noPermits, 'r1', { calls: [0, 1] });
    const outcome = ask(next, 'r1', { giveBack: back('r1', 0, 1), calls: [5] });
    expect(outcome.granted).toEqual(['r1#c1-5']);
    expect(outcome.next.leases.map(({ key }) => key)).toEqual(['r1#c1-5#a']);
  });

  it('first come, first served: what was waited for is kept from newcomers', () => {
    const full = ask(noPermits, 'r1', { calls: [0, 1] }).next;
    const queued = ask(full, 'r2', { now: 1_100 }).next;
    const freed = ask(queued, 'r1', { now: 1_200, giveBack: back('r1', 0), want: [] }).next;
    expect(ask(freed, 'r3', { now: 1_300 }).granted).toEqual([]);
    expect(ask(freed, 'r2', { now: 1_300 }).granted).toEqual(['r2#c1-0']);
    const two = ask(freed, 'r1', { now: 1_300, giveBack: back('r1', 1), want: [] }).next;
    expect(ask(two, 'r3', { now: 1_400 }).granted).toEqual(['r3#c1-0']);
  });

  it('those who began to wait in the same millisecond see one order', () => {
    const full = ask(noPermits, 'r1', { calls: [0, 1] }).next;
    const queued = ask(ask(full, 'r3', { now: 1_100 }).next, 'r2', { now: 1_100 }).next;
    const freed = ask(queued, 'r1', { now: 1_200, giveBack: back('r1', 0), want: [] }).next;
    const granted = ['r2', 'r3'].map((run) => ask(freed, run, { now: 1_300 }).granted.length);
    expect(granted.reduce((sum, count) => sum + count)).toBe(1);
  });

  it('nobody waits for a level that others wait for', () => {
    const full = ask(noPermits, 'r1', { calls: [0, 1] }).next;
    const queued = ask(full, 'r2').next;
    expect(ask(queued, 'r3', { levels: FILE }).granted).toEqual(['r3#c1-0']);
  });

  it('expired leases and waiters are dropped', () => {
    const full = ask(noPermits, 'r1', { calls: [0, 1] }).next;
    const queued = ask(full, 'r2').next;
    const late = ask(queued, 'r3', { now: 61_001 });
    expect(late.granted).toEqual(['r3#c1-0']);
    expect(late.next).toMatchObject({ leases: [{ run: 'r3' }], waiting: [] });
  });

  it('a poll that changes nothing changes nothing', () => {
    const queued = ask(ask(noPermits, 'r1', { calls: [0, 1] }).next, 'r2').next;
    const poll = ask(queued, 'r2', { now: 2_000, nextPoll: 4_000 });
    expect(poll).toMatchObject({ changed: false, waiting: ['r2#c1-0'] });
    expect(poll.next).toBe(queued);
    const later = ask(queued, 'r2', { now: 4_000, nextPoll: 8_000 });
    expect(later).toMatchObject({ changed: true, next: { waiting: [{ since: 1_000, until: 13_000 }] } });
  });

  it('times out after 30 s, counted from when the call began to wait', () => {
    const full = ask(noPermits, 'r1', { calls: [0, 1], now: 1_000 }).next;
    const queued = ask(full, 'r2', { now: 1_000, nextPoll: 31_500 }).next;
    expect(ask(queued, 'r2', { now: 30_999 }).waiting).toEqual(['r2#c1-0']);
    const out = ask(queued, 'r2', { now: 31_000 });
    expect([out.timedOut, out.waiting, out.next.waiting]).toEqual([['r2#c1-0'], [], []]);
  });

  it('who fell out of the queue gets its place and its clock back', () => {
    const full = ask(noPermits, 'r1', { calls: [0, 1] }).next;
    const queued = ask(full, 'r3', { now: 5_000 }).next;
    const want = (since: number) => [{ key: 'r2#c1-0', levels: CODE, leaseUntil: 60_000, since }];
    expect(ask(queued, 'r2', { now: 6_000, want: want(2_000) }).next.waiting.map(({ run }) => run)).toEqual(['r2', 'r3']);
    expect(ask(queued, 'r2', { now: 32_000, want: want(2_000) }).timedOut).toEqual(['r2#c1-0']);
  });

  it('the 51st waiter is told QUEUE_FULL', () => {
    let permits = ask(noPermits, 'r0', { calls: [0, 1] }).next;
    permits = ask(permits, 'r1', { calls: Array.from({ length: 49 }, (_, n) => n) }).next;
    const outcome = ask(permits, 'r2', { calls: [0, 1] });
    expect([outcome.waiting, outcome.full]).toEqual([['r2#c1-0'], ['r2#c1-1']]);
    expect(outcome.next.waiting).toHaveLength(50);
  });

  it('calls that are no longer wanted leave the queue; who only gives back leaves it alone', () => {
    const queued = ask(ask(noPermits, 'r1', { calls: [0, 1] }).next, 'r2', { calls: [0, 1] }).next;
    expect(ask(queued, 'r2', { calls: [1] }).next.waiting.map(({ key }) => key)).toEqual(['r2#c1-1']);
    expect(ask(queued, 'r2', { want: [], giveBack: ['r2#c1-7#loser'] })).toMatchObject({ changed: false });
  });

  it('asked again under the same attempt, it grants the lease it holds: the first answer may have been lost', () => {
    const { next } = ask(noPermits, 'r1', { calls: [0, 1] });
    expect(ask(next, 'r1', { calls: [0, 1] })).toMatchObject({ changed: false, granted: ['r1#c1-0', 'r1#c1-1'] });
    expect(ask(next, 'r1', { calls: [0, 1], attempt: 'b' }).granted).toEqual([]);
  });
});

describe('levels', () => {
  const tool = defineTool({ name: 'web_fetch', description: 'x', parameters: { type: 'object' }, category: 'network' });
  const skill = defineTool({ name: 'scrape', description: 'x', parameters: { type: 'object' }, category: 'skill', maxConcurrency: 3 });

  it('are four: global, category, tool or skill', () => {
    expect(levelsOf(tool)).toEqual(['global', 'category:network', 'tool:web_fetch']);
    expect(levelsOf(skill)).toEqual(['global', 'category:skill', 'skill:scrape']);
  });

  it('have the configured limits, else what a definition says', () => {
    const other = defineTool({ ...tool, name: 'other', maxConcurrency: 4 });
    const found = concurrencyLimits({ global: 10, categories: { network: 3 }, tools: { web_fetch: 2 } }, [
      { ...tool, maxConcurrency: 9 },
      skill,
      other,
    ]);
    expect(Object.fromEntries(found)).toEqual({
      global: 10,
      'category:network': 3,
      'tool:web_fetch': 2,
      'tool:other': 4,
      'skill:scrape': 3,
    });
  });
});
