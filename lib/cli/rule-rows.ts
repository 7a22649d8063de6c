import type { GuardConstraints, MergedConstraints, PolicyLayer, ToolRule } from '../core/guard/constraints.ts';
import { duration, oneLine } from './display-text.ts';

/** What a guard's settings say, a line for each, as cells: what, value, whose. */
export function rulesOf(guard: GuardConstraints, whose: string): string[][] {
  const rules = Object.entries(guard.tool_policy ?? {}).flatMap(([key, written]) =>
    toolRules(key, Array.isArray(written) ? written : [written]),
  );
  const budget = Object.entries(guard.budget ?? {}).flatMap(([key, limit]) =>
    typeof limit === 'number' ? [[`budget.${key}`, String(limit)]] : [],
  );
  return [
    ...rules,
    ...(guard.default_policy === undefined ? [] : [['(every other tool)', guard.default_policy]]),
    ...(guard.flow === undefined ? [] : [['flow', guard.flow]]),
    ...(typeof guard.max_tool_calls === 'number' ? [['max_tool_calls', String(guard.max_tool_calls)]] : []),
    ...budget,
  ].map((row) => [...row, `(${whose})`]);
}

/** What holds for a run, and in brackets the layer that each part came from (design 5.4). */
export function constraintRows({ guard, execution, origins, ...limits }: MergedConstraints): string[] {
  const from = (path: string): string => `(${origins[path] ?? 'default'})`;
  const budget = Object.entries(guard.budget).flatMap(([key, limit]) =>
    limit === null ? [] : [`${key} at most ${limit} ${from(`guard.budget.${key}`)}`],
  );
  return [
    `max_iterations ${limits.max_iterations} ${from('max_iterations')}`,
    `timeout ${duration(limits.timeout)} ${from('timeout')}`,
    `max_messages ${limits.max_messages} ${from('max_messages')}`,
    ...(guard.max_tool_calls === null ? [] : [`max_tool_calls ${guard.max_tool_calls} ${from('guard.max_tool_calls')}`]),
    ...budget,
    `flow ${guard.flow} ${from('guard.flow')}`,
    ...(execution.network ? [] : [`execution.network none ${from('execution.network')}`]),
    ...(execution.timeout_s === null ? [] : [`execution.timeout_s ${execution.timeout_s} ${from('execution.timeout_s')}`]),
    ...guard.tool_policy.flatMap(layerRules),
  ];
}

function layerRules({ layer, rules, default_policy }: PolicyLayer): string[] {
  const all = Object.entries(rules).flatMap(([key, list]) => toolRules(key, list));
  return [...all, ...(default_policy === undefined ? [] : [['every other tool', default_policy]])].map(
    ([key = '', policy = '']) => `${key}: ${policy} (${layer})`,
  );
}

function toolRules(key: string, rules: readonly ToolRule[]): string[][] {
  return rules.map((rule) => [
    oneLine(key, 64),
    typeof rule === 'string' ? rule : `${rule.policy} when ${oneLine(JSON.stringify(rule.when), 120)}`,
  ]);
}
