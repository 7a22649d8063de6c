import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareTrees, runBoth } from '../support/compare-trees.ts';
import { treeCase } from '../support/random-tree.ts';

describe('trees', () => {
  it('go as in a naive interpreter: same status, same blackboard, same calls in the same order', () => {
    fc.assert(
      fc.property(treeCase, (example) => {
        const { real, naive } = runBoth(example);
        expect(real).toEqual(naive);
      }),
      { numRuns: 1_500 },
    );
  });

  it('are compared on trees that do something', () => {
    const { comparedTrees, entries } = compareTrees(200, 7);
    expect(entries / comparedTrees).toBeGreaterThan(2);
  });
});
