import { nearestName } from '../hands/nearest-name.ts';
import { globMatches } from './checkers/tool-policy.ts';
import type { GuardConstraints } from './constraints.ts';

interface Named {
  readonly name: string;
  readonly aliases: readonly string[];
}

/**
 * What is said of rules that no tool goes by, most likely misspelt: for a `deny` nobody would notice. A warning and no error,
 * since a rule may well be set before its tool is there.
 */
export function unmatchedRules(guard: Pick<GuardConstraints, 'tool_policy'> | undefined, tools: readonly Named[]): string[] {
  return Object.keys(guard?.tool_policy ?? {}).flatMap((key) => {
    const problem = unmatched(key, tools);
    return problem === undefined ? [] : [`tool_policy.${key}: ${problem}`];
  });
}

function unmatched(key: string, tools: readonly Named[]): string | undefined {
  if (/[*?]/.test(key)) return tools.some(({ name }) => globMatches(key, name)) ? undefined : 'fits the name of no tool that is here';
  const names = tools.flatMap(({ name, aliases }) => [name, ...aliases]);
  if (names.includes(key)) return undefined;
  const nearest = nearestName(key, names);
  return `no tool here has this name or alias${nearest === undefined ? '' : `; did you mean "${nearest}"?`}`;
}
