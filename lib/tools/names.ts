import { builtIns } from '../core/loop/built-ins/index.ts';
import { categories } from './index.ts';

/** Names and aliases of every tool that is not a skill: a skill may have none of them. */
export function builtInToolNames(): ReadonlySet<string> {
  const definitions = [...categories.flatMap(({ tools }) => tools), ...builtIns.map(({ definition }) => definition)];
  return new Set(definitions.flatMap(({ name, aliases }) => [name, ...aliases]));
}
