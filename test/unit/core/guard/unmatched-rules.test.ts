import { expect, test } from 'vitest';
import { unmatchedRules } from '../../../../lib/core/guard/named-tools.ts';

const tools = [
  { name: 'execute_shell', aliases: ['bash'] },
  { name: 'web_fetch', aliases: [] },
];
const warningsOf = (...keys: string[]) => unmatchedRules({ tool_policy: Object.fromEntries(keys.map((key) => [key, 'deny'])) }, tools);

test('a rule by a name, an alias or a glob that fits a tool is no matter for a warning', () => {
  expect(warningsOf('execute_shell', 'bash', 'web_*', '*', 'web_fetc?')).toEqual([]);
  expect(unmatchedRules({}, tools)).toEqual([]);
});

test('a rule that fits no tool is named, with the name that was most likely meant', () => {
  expect(warningsOf('execute_shel', 'web_*', 'deploy', 'net_*', 'bas?')).toEqual([
    'tool_policy.execute_shel: there is no tool "execute_shel"; did you mean "execute_shell"?',
    'tool_policy.deploy: there is no tool "deploy"; expected one of execute_shell, web_fetch',
    'tool_policy.net_*: fits the name of no tool',
    // As the guard does: a glob is held against names alone.
    'tool_policy.bas?: fits the name of no tool',
  ]);
});
