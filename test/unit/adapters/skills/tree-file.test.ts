import { describe, expect, it } from 'vitest';
import { checkTreeFile, readTree, treeChecker } from '../../../../lib/adapters/skills/tree-file.ts';

const GOOD = `# A comment
root:
  type: sequence
  children:
    - type: tool
      name: lint
      tool: execute_shell
    - { type: set, key: done, value: yes }
`;

describe('tree.yaml', () => {
  it('is read as a tree', () => {
    expect(readTree(GOOD, 'tree.yaml')).toEqual({
      root: {
        type: 'sequence',
        children: [
          { type: 'tool', name: 'lint', tool: 'execute_shell', execute: true },
          { type: 'set', key: 'done', value: 'yes' },
        ],
      },
    });
  });

  it('is read with a byte order mark and with CRLF', () => {
    expect(readTree(`\uFEFF${GOOD.replaceAll('\n', '\r\n')}`, 'tree.yaml')).toEqual(readTree(GOOD, 'tree.yaml'));
  });

  it('with problems is refused with the line of each, in order', () => {
    const text = GOOD.replace('execute_shell', 'Execute Shell').replace('key: done', 'kye: done');
    expect(() => readTree(text, 'skills/x/tree.yaml')).toThrow(
      [
        'skills/x/tree.yaml:7: root.children.0.tool: expected the name of a tool: a-z, 0-9 and _, such as read_file',
        'skills/x/tree.yaml:8: root.children.1.key: expected string, received undefined',
        'skills/x/tree.yaml:8: root.children.1.kye: set nodes have no such field: expected name, key, value, session; did you mean "key"?',
      ].join('\n'),
    );
  });

  it('naming a tool that nobody has is refused, with one that was meant', () => {
    expect(checkTreeFile(GOOD, 't', { tools: [{ name: 'execute_shel', aliases: [] }] })).toEqual({
      ok: false,
      problems: [{ file: 't', line: 7, reason: 'root.children.0.tool: there is no tool "execute_shell"; did you mean "execute_shel"?' }],
    });
  });

  it.each([
    ['nothing', '', 1, 'expected a mapping with `root`, found nothing'],
    ['broken YAML', 'root:\n  type: [a', 2, 'Flow sequence in block collection must be sufficiently indented and end with a ]'],
    ['a cycle of aliases', 'root: &a\n  type: sequence\n  children:\n    - *a\n', 1, 'aliases are not read'],
    ['a tag that runs code', 'root: !!js/function "x"', 1, 'Unresolved tag'],
    ['a key twice', 'root:\n  type: tool\n  type: set\n', 3, 'the key "type" is there twice'],
    ['a key that is a list', '? [a]\n: 1\n', 1, 'expected keys that are words'],
    [
      'a prototype as key',
      'root:\n  type: tool\n  tool: x\n  __proto__:\n    execute: false\n',
      4,
      'root.__proto__: tool nodes have no such field',
    ],
    ['two documents', 'root: 1\n---\nroot: 2\n', 2, 'multiple documents'],
    ['100,000 open brackets', '['.repeat(100_000), 1, 'brackets nested deeper than'],
    ['60,000 dashes', '- '.repeat(60_000), 1, 'nested too deep'],
    [
      '20,000 unknown keys',
      `root:\n${Array.from({ length: 20_000 }, (_, index) => `  k${index}: 1`).join('\n')}`,
      1,
      'a node without `type`',
    ],
    ['too much text', `root: ${'x'.repeat(300_000)}`, 1, 'longer than 262144 characters'],
  ])('with %s is refused', (_what, text, line, reason) => {
    const reading = checkTreeFile(text, 'tree.yaml');
    expect(reading).toMatchObject({ ok: false, problems: [{ file: 'tree.yaml', line, reason: expect.stringContaining(reason) }] });
  });
});

it('the checker of tree skills looks at inputs and outputs too', () => {
  const check = treeChecker({ tools: [{ name: 'execute_shell', aliases: [] }] });
  const tree = { file: 'tree.yaml', text: GOOD, inputs: {}, resultKey: 'skill_result' };
  expect(check(tree, 'skills/x/tree.yaml')).toEqual({ problems: [], calls: [] });
  expect(
    check({ ...tree, text: '7', inputs: { a: { type: 'nope' } }, outputs: { type: 'nope' } }, 'skills/x/tree.yaml').problems,
  ).toMatchObject([
    { file: 'skills/x/tree.yaml', line: 1, reason: 'expected a mapping with `root`, found a number' },
    { file: 'skills/x/SKILL.md', line: 1, reason: expect.stringMatching(/^inputs: /) },
    { file: 'skills/x/SKILL.md', line: 1, reason: expect.stringMatching(/^outputs: /) },
  ]);
});
