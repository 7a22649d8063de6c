import type { JsonObject } from '../../json.ts';
import { matchesCondition } from '../condition.ts';
import { type MergedConstraints, type PolicyLayer, strictestPolicy, type ToolPolicy, type ToolRule } from '../constraints.ts';
import type { Checker } from '../decision.ts';
import { sinksOf } from './flow.ts';
import type { GuardSettings } from './settings.ts';

export const TOOL_POLICY = 'tool_policy';

/** Seed 003, ToolPolicyChecker: what the constraints say about this tool; only tool calls are looked at. */
export function toolPolicyChecker({ constraints }: GuardSettings): Checker {
  return {
    name: TOOL_POLICY,
    check: async (_action, { tool }) => {
      if (!tool) return ['ALLOW', 'not a tool call'];
      const { policy, reason } = policyOn(constraints, tool, tool.args);
      return [policy === 'deny' ? 'DENY' : policy === 'confirm' ? 'CONFIRM' : 'ALLOW', reason];
    },
    reset: () => undefined,
  };
}

export interface PolicyAnswer {
  readonly policy: ToolPolicy;
  /** Names the rule and its layer. */
  readonly reason: string;
}

const NO_RULE: PolicyAnswer = { policy: 'allow', reason: 'no rule' };

interface Tool {
  readonly name: string;
  readonly aliases: readonly string[];
}

/** What the constraints say of a tool: one that can reach the network is denied without `execution.network`, whatever the rules say. */
export function policyOn(
  { guard, execution, origins }: MergedConstraints,
  tool: Tool & { readonly effectTags: readonly string[] },
  args?: JsonObject,
): PolicyAnswer {
  if (execution.network || sinksOf(tool.effectTags).length === 0) return toolPolicyOf(guard.tool_policy, tool, args);
  return {
    policy: 'deny',
    reason: `execution.network is none (${origins['execution.network'] ?? 'default'}): ${tool.name} reaches the network`,
  };
}

/**
 * The strictest answer of all layers. Within a layer: exact name > alias > longest glob > default, ties to the strictest
 * (design 5.1). A rule with `when` counts only where no more specific plain rule decides, only if the arguments match and
 * only if stricter; without `args` (no call yet, only a tool) none counts.
 */
export function toolPolicyOf(layers: readonly PolicyLayer[], tool: Tool, args?: JsonObject): PolicyAnswer {
  let strictest: PolicyAnswer | undefined;
  for (const layer of layers) {
    const answer = layerAnswer(layer, tool, args);
    if (answer && (!strictest || isStricter(answer.policy, strictest.policy))) strictest = answer;
  }
  return strictest ?? NO_RULE;
}

interface Rules {
  readonly key: string;
  readonly rules: readonly ToolRule[];
}

function layerAnswer(layer: PolicyLayer, tool: Tool, args: JsonObject | undefined): PolicyAnswer | undefined {
  const conditional: PolicyAnswer[] = [];
  let plain: PolicyAnswer | undefined;
  for (const tier of tiersOf(layer, tool)) {
    for (const { key, rules } of tier) {
      for (const rule of rules) {
        if (typeof rule !== 'string') {
          if (args && matchesCondition(rule.when, args)) conditional.push(answerOf(rule.policy, layer, `"${key}" for these arguments`));
        } else if (!plain || isStricter(rule, plain.policy)) plain = answerOf(rule, layer, `"${key}"`);
      }
    }
    if (plain) break;
  }
  if (!plain && layer.default_policy !== undefined) plain = answerOf(layer.default_policy, layer, 'default_policy');
  let answer = plain;
  for (const candidate of conditional) if (isStricter(candidate.policy, (answer ?? NO_RULE).policy)) answer = candidate;
  return answer;
}

function answerOf(policy: ToolPolicy, layer: PolicyLayer, rule: string): PolicyAnswer {
  return { policy, reason: `tool policy: ${rule} is ${policy} (${layer.layer})` };
}

/** Rules that name the tool, the most specific first; those of one tier tie. */
function tiersOf(layer: PolicyLayer, tool: Tool): Rules[][] {
  const named = (names: readonly string[]): Rules[] =>
    names.flatMap((key) => {
      const rules = Object.hasOwn(layer.rules, key) ? layer.rules[key] : undefined;
      return rules ? [{ key, rules }] : [];
    });
  const globs = new Map<number, Rules[]>();
  for (const [key, rules] of Object.entries(layer.rules)) {
    if (!/[*?]/.test(key) || !globMatches(key, tool.name)) continue;
    globs.set(key.length, [...(globs.get(key.length) ?? []), { key, rules }]);
  }
  const longestFirst = [...globs].sort(([a], [b]) => b - a).map(([, rules]) => rules);
  return [named([tool.name]), named(tool.aliases), ...longestFirst];
}

/** `*` = any characters, `?` = one. Linear in the product of the lengths, whatever the pattern. */
export function globMatches(glob: string, name: string): boolean {
  let reachable = new Set([0]);
  for (const character of glob) {
    const next = new Set<number>();
    for (const place of reachable) {
      if (character === '*') for (let end = place; end <= name.length; end++) next.add(end);
      else if (place < name.length && (character === '?' || character === name[place])) next.add(place + 1);
    }
    reachable = next;
  }
  return reachable.has(name.length);
}

const isStricter = (a: ToolPolicy, b: ToolPolicy): boolean => a !== b && strictestPolicy(a, b) === a;
