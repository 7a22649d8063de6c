import { unknownName } from '../hands/nearest-name.ts';
import { globMatches } from './checkers/tool-policy.ts';
import type { GuardConstraints } from './constraints.ts';

/** A tool as rules and lists name it. */
export interface NamedTool {
  readonly name: string;
  readonly aliases: readonly string[];
}

/**
 * What is wrong with a key of `tool_policy` among the tools that there are, switched off or not: it is no name or alias of
 * one, or a glob that fits the name of none. For a misspelt `deny` nobody would notice.
 */
export function ruleNameProblem(key: string, tools: readonly NamedTool[]): string | undefined {
  if (/[*?]/.test(key)) return tools.some(({ name }) => globMatches(key, name)) ? undefined : 'fits the name of no tool';
  return knownToolProblem(key, tools);
}

/** The same for every rule of a live policy: told and not refused, since a rule may well be set before its tool is there. */
export function unmatchedRules(guard: Pick<GuardConstraints, 'tool_policy'>, tools: readonly NamedTool[]): string[] {
  return Object.keys(guard.tool_policy ?? {}).flatMap((key) => {
    const problem = ruleNameProblem(key, tools);
    return problem === undefined ? [] : [`tool_policy.${key}: ${problem}`];
  });
}

/** The same for a name or an alias. */
export function knownToolProblem(name: string, tools: readonly NamedTool[]): string | undefined {
  if (tools.some((tool) => tool.name === name || tool.aliases.includes(name))) return undefined;
  return unknownTool(name, tools);
}

/** The same for what goes by a tool's own name alone. */
export function toolNameProblem(name: string, tools: readonly NamedTool[]): string | undefined {
  if (tools.some((tool) => tool.name === name)) return undefined;
  const aliased = tools.find(({ aliases }) => aliases.includes(name));
  return aliased ? `"${name}" is an alias; write "${aliased.name}"` : unknownTool(name, tools);
}

function unknownTool(name: string, tools: readonly NamedTool[]): string {
  return unknownName(
    'tool',
    name,
    tools.map((tool) => tool.name),
    tools.flatMap(({ aliases }) => aliases),
  );
}
