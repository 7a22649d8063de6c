import { compareTrees } from '../support/compare-trees.ts';

/** Random trees run by ticks and by a naive interpreter: same status, blackboard and order of calls (target: 1,000 or more, 0). */
export function measureTrees(): { readonly comparedTrees: number; readonly mismatches: number } {
  const { comparedTrees, mismatches } = compareTrees(2_000, 20_260);
  return { comparedTrees, mismatches };
}
