import { describe, expect, it } from 'vitest';
import { BATCH_CALLS, HISTORY_EVENTS } from '../../../../lib/core/limits.ts';
import { END_EVENTS, HISTORY_HARD_LIMIT, mustContinue, START_EVENTS, worstCaseEvents } from '../../../../lib/core/machine/history.ts';

describe('history events', () => {
  it('counts a Task with three retries as two events of the state and three of each attempt', () => {
    expect(START_EVENTS).toBe(1 + 2 + 4 * 3);
    expect(worstCaseEvents('reason')).toBe(2 + 14);
    expect(worstCaseEvents('wait')).toBe(2 + 2 + 14);
    expect(worstCaseEvents('suspend')).toBe(2 + 2 + 4 * 4 + 14);
    expect(worstCaseEvents('finish')).toBe(2 + 2 + 1);
    expect(worstCaseEvents('continue')).toBe(2 + 14 + 2 + 1);
  });

  it('counts each call with its iteration, every retry and the state that takes its failure', () => {
    expect(worstCaseEvents('act', 1, 0)).toBe(2 + 4 + (2 + 2 + 3 * 6 + 2) + 14);
    expect(worstCaseEvents('act', 1, 5) - worstCaseEvents('act', 1, 0)).toBe(3 * 5);
    expect(worstCaseEvents('act', 7, 2) - worstCaseEvents('act', 6, 2)).toBe(2 + 2 + 3 * 8 + 2);
  });

  it('asks to continue as soon as the pass and an orderly end might not fit before the limit', () => {
    const last = HISTORY_EVENTS - END_EVENTS - worstCaseEvents('act', 3, 2);
    expect(mustContinue(last, 'act', 3, 2)).toBe(false);
    expect(mustContinue(last + 1, 'act', 3, 2)).toBe(true);
  });

  it('never asks to continue instead of ending or of continuing', () => {
    expect(mustContinue(HISTORY_EVENTS, 'finish')).toBe(false);
    expect(mustContinue(HISTORY_EVENTS, 'continue')).toBe(false);
  });

  it('lets the largest stage run in a fresh execution, below the limit of the service', () => {
    expect(mustContinue(START_EVENTS, 'act', BATCH_CALLS, 5)).toBe(false);
    expect(HISTORY_EVENTS).toBeLessThan(HISTORY_HARD_LIMIT);
  });
});
