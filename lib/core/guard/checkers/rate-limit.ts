import * as z from 'zod';
import type { Checker } from '../decision.ts';
import type { GuardSettings } from './settings.ts';

export const RATE_LIMIT = 'rate_limit';

/** `metadata.counted`: this call has been counted by an earlier step, so it is not counted again. */
export const COUNTED = 'counted';

const stateSchema = z.object({ call_count: z.int().nonnegative() });

/** Calls that a run has been charged with so far, from the checkers' states that it keeps. */
export function countedCalls(states: Readonly<Record<string, unknown>>): number {
  const state = stateSchema.safeParse(states[RATE_LIMIT]);
  return state.success ? state.data.call_count : 0;
}

/**
 * Seed 003, RateLimitChecker: denies when `call_count > max_calls`. The count outlives the step (run item) and lives as
 * long as the run. A call counts once, and what is denied here does not count (design 5.1).
 */
export function rateLimitChecker({ constraints }: GuardSettings): Checker {
  const max = constraints.guard.max_tool_calls;
  let callCount = 0;
  return {
    name: RATE_LIMIT,
    check: async (action, { metadata }) => {
      if (action !== 'tool_call') return ['ALLOW', 'not a tool call'];
      if (metadata[COUNTED] === true) return ['ALLOW', 'counted before'];
      Object.assign(metadata, { call_count: callCount + 1, max_tool_calls: max });
      // Written so that a limit which is not a number denies.
      if (max !== null && !(callCount + 1 <= max)) return ['DENY', `rate limit: at most ${max} tool calls in this run`];
      callCount += 1;
      metadata[COUNTED] = true;
      return ['ALLOW', max === null ? 'no limit' : `tool call ${callCount} of at most ${max}`];
    },
    reset: () => {
      callCount = 0;
    },
    save: () => ({ call_count: callCount }),
    restore: (state) => {
      callCount = stateSchema.parse(state).call_count;
    },
  };
}
