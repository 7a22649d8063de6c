import type { NamedTool } from '../core/guard/named-tools.ts';
import { builtIns } from '../core/loop/built-ins/index.ts';
import { categories } from './index.ts';

/** Every tool of the product that is not a skill, whatever a configuration leaves of them. */
export const productTools: { readonly tools: readonly NamedTool[]; readonly builtIns: readonly NamedTool[] } = {
  tools: categories.flatMap(({ tools }) => tools),
  builtIns: builtIns.map(({ definition }) => definition),
};

/** Levels of `hands.concurrency.categories`. */
export const concurrencyCategories: readonly string[] = [...categories.map(({ name }) => name), 'skill'];
