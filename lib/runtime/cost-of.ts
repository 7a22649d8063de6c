import type { Config } from '../core/config.ts';
import { type RunCost, runCost } from '../core/cost/run-cost.ts';
import type { Run } from '../core/loop/run.ts';
import { functionMemoryMb } from '../manifest.ts';
import { categories } from '../tools/index.ts';

/** The cost of runs by the configured prices, and the sizes that functions are deployed with: on a laptop, what AWS would take. */
export function costOf({ aws_prices: prices }: Pick<Config, 'aws_prices'>): (run: Run) => RunCost {
  return (run) => runCost(run, { prices, memoryMb: (name) => functionMemoryMb(categories, name) });
}
