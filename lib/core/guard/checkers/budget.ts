import type { Usage } from '../../loop/usage.ts';
import type { Budget } from '../constraints.ts';
import type { Checker } from '../decision.ts';
import type { GuardSettings } from './settings.ts';

export const BUDGET = 'budget';

export const DIMENSIONS = [
  { limit: 'total_tokens', used: (usage: Usage) => usage.totalTokens },
  { limit: 'prompt_tokens', used: (usage: Usage) => usage.promptTokens },
  { limit: 'completion_tokens', used: (usage: Usage) => usage.completionTokens },
  { limit: 'cost_usd', used: (usage: Usage) => usage.costUsd },
] as const satisfies readonly { limit: keyof Budget; used: (usage: Usage) => number }[];

/** Seed 003, BudgetChecker: denies LLM and tool calls once usage is over a budget. Null = no limit in that dimension. */
export function budgetChecker({ constraints }: GuardSettings): Checker {
  const { budget } = constraints.guard;
  return {
    name: BUDGET,
    check: async (_action, { usage, metadata }) => {
      for (const { limit, used } of DIMENSIONS) {
        const most = budget[limit];
        if (most === null) continue;
        const spent = used(usage);
        metadata[limit] = Number.isFinite(spent) ? spent : String(spent);
        // Not `spent > most`: usage that is not a number must not disable the limit.
        if (!(spent <= most)) return ['DENY', `budget: ${spent} of at most ${most} ${limit} spent`];
      }
      return ['ALLOW', 'within the budget'];
    },
    reset: () => undefined,
  };
}
