import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { parseTree } from '../../lib/core/trees/tree.ts';
import { runNaively } from './naive-tree.ts';
import { type TreeCase, treeCase } from './random-tree.ts';
import { seededOracle, type TreeHistory } from './tree-oracle.ts';
import { runByTicks } from './tree-runner.ts';

/** One tree through both interpreters, with the same answers of the world. Undefined: its retries are refused. */
export function runBoth({ root, blackboard, seed }: TreeCase): { readonly real: TreeHistory; readonly naive: TreeHistory } {
  const tree = parseTree({ root }, 'random', () => undefined);
  return { real: runByTicks(tree, blackboard, seededOracle(seed)), naive: runNaively(tree.root, blackboard, seededOracle(seed)) };
}

/** Random trees through both interpreters: how many, how many went differently, and calls made in all. */
export function compareTrees(
  count: number,
  seed: number,
): { readonly comparedTrees: number; readonly mismatches: number; readonly entries: number } {
  const histories = fc.sample(treeCase, { numRuns: count, seed }).map(runBoth);
  return {
    comparedTrees: histories.length,
    mismatches: histories.filter(({ real, naive }) => !isDeepStrictEqual(real, naive)).length,
    entries: histories.reduce((sum, { real }) => sum + real.log.length, 0),
  };
}
