import { describe, expect, it } from 'vitest';
import { HandrailError } from '../../../../lib/core/errors.ts';
import { complete, decideApproval } from '../../../../lib/core/trees/tick.ts';
import { nodePaths, parseTree } from '../../../../lib/core/trees/tree.ts';
import { TreeSteps, toolNode } from '../../../support/tree-steps.ts';

const refusal = (value: unknown): string => {
  try {
    parseTree(value, 'tree.yaml', (path) => path.length);
  } catch (error) {
    if (error instanceof HandrailError && error.code === 'BAD_REQUEST') return error.message;
    throw error;
  }
  return 'accepted';
};
const deep = (levels: number): object => (levels === 1 ? toolNode('leaf') : { type: 'inverter', child: deep(levels - 1) });
const wide = (count: number): object => ({
  type: 'sequence',
  children: Array.from({ length: count - 1 }, () => ({ type: 'tool', tool: 'read_file' })),
});

describe('paths', () => {
  it('are made of names, else of types, numbered where there are several', () => {
    const tree = parseTree(
      {
        root: {
          type: 'sequence',
          children: [toolNode('first'), { type: 'inverter', child: { type: 'tool', tool: 'x' } }, { type: 'tool', tool: 'y' }],
        },
      },
      'f',
      () => 1,
    );
    expect([...nodePaths(tree).keys()]).toEqual([
      'sequence',
      'sequence/first',
      'sequence/inverter-2',
      'sequence/inverter-2/tool',
      'sequence/tool-3',
    ]);
  });

  it('that are not a leaf that was handed out cannot be completed', () => {
    const { tree } = new TreeSteps({ type: 'sequence', name: 's', children: [toolNode('a')] });
    expect(() => complete(tree, {}, 's', { status: 'success' })).toThrow('"s" is no tool, llm or agent node');
    expect(() => complete(tree, {}, 'constructor', { status: 'success' })).toThrow('is no tool, llm or agent node');
    expect(() => decideApproval(tree, {}, 's/a', 'before', 'approved')).toThrow('is no approval node');
  });

  it('may be named like what every object has', () => {
    const steps = new TreeSteps({ type: 'retry', name: 'constructor', attempts: 2, child: toolNode('hasownproperty') });
    steps.next();
    expect(steps.fail('constructor/hasownproperty').next()).toMatchObject({ kind: 'tools' });
    expect(steps.fail('constructor/hasownproperty').next()).toMatchObject({ kind: 'done', status: 'failure' });
  });
});

describe('a tree', () => {
  it('gets its defaults', () => {
    const { root } = parseTree({ root: { type: 'parallel', children: [{ type: 'approval', child: toolNode('t') }] } }, 'f', () => 1);
    expect(root).toEqual({
      type: 'parallel',
      success: 'all',
      children: [
        { type: 'approval', phase: 'before', on_reject: 'failure', child: { type: 'tool', name: 't', tool: 'read_file', execute: true } },
      ],
    });
  });

  it('may be 64 nodes deep and have 500 nodes', () => {
    expect(refusal({ root: deep(64) })).toBe('accepted');
    expect(refusal({ root: wide(500) })).toBe('accepted');
  });
});

describe('a bad tree is refused with place and expectation:', () => {
  it.each<[string, unknown, string]>([
    ['not a mapping', 7, 'tree.yaml:0: expected a mapping with `root`, found a number'],
    ['no root', {}, 'tree.yaml:0: expected `root`: the node at the top of the tree'],
    ['another key beside root', { root: toolNode('t'), rot: 1 }, 'tree.yaml:1: rot: there is no such field; expected only `root`'],
    ['a node that is text', { root: 'x' }, 'tree.yaml:1: root: expected a node (a mapping with `type`), found text'],
    ['no type', { root: { tool: 'x' } }, 'tree.yaml:1: root: a node without `type`: expected one of sequence, selector, parallel,'],
    ['an unknown type', { root: { type: 'toool' } }, 'tree.yaml:2: root.type: there is no node type "toool": expected one of sequence,'],
    ['a type near another', { root: { type: 'seqence' } }, 'did you mean "sequence"?'],
    ['a type like an object’s own', { root: { type: 'constructor' } }, 'there is no node type "constructor"'],
    ['no children', { root: { type: 'sequence' } }, 'tree.yaml:1: root: expected `children`: a list of at least one node; found nothing'],
    [
      'empty children',
      { root: { type: 'selector', children: [] } },
      'tree.yaml:2: root.children: expected `children`: a list of at least one node; found an empty list',
    ],
    ['no child', { root: { type: 'inverter' } }, 'tree.yaml:1: root: expected `child`: the node it is for'],
    [
      'children of a decorator',
      { root: { type: 'inverter', child: toolNode('t'), children: [] } },
      'root.children: inverter nodes have no such field: expected name, child; did you mean "child"?',
    ],
    [
      'children of a leaf',
      { root: { ...toolNode('t'), children: [] } },
      'tree.yaml:2: root.children: tool nodes have no such field: expected name, tool, input_key, output_key, execute',
    ],
    [
      'an unknown field',
      { root: { ...toolNode('t'), inputs_key: 'a' } },
      'root.inputs_key: tool nodes have no such field: expected name, tool, input_key, output_key, execute; did you mean "input_key"?',
    ],
    ['no tool', { root: { type: 'tool' } }, 'tree.yaml:2: root.tool: expected string, received undefined'],
    [
      'a tool that is no name',
      { root: { type: 'tool', tool: 'Read File' } },
      'root.tool: expected the name of a tool: a-z, 0-9 and _, such as read_file',
    ],
    ['a bad retry', { root: { type: 'retry', attempts: 0, child: toolNode('t') } }, 'root.attempts: Too small: expected number to be >=1'],
    ['a retry without attempts', { root: { type: 'retry', child: toolNode('t') } }, 'root.attempts: expected number, received undefined'],
    ['a bad timeout', { root: { type: 'timeout', ms: '5s', child: toolNode('t') } }, 'root.ms: expected number, received string'],
    [
      'a bad phase',
      { root: { type: 'approval', phase: 'during', child: toolNode('t') } },
      'root.phase: expected one of "before"|"after"|"both"',
    ],
    [
      'a bad on_reject',
      { root: { type: 'approval', on_reject: 'skip', child: toolNode('t') } },
      'root.on_reject: expected one of "failure"|"success_skip"',
    ],
    [
      'a bad success',
      { root: { type: 'parallel', success: 'most', children: [toolNode('t')] } },
      'root.success: expected one of "all"|"any"',
    ],
    [
      'two comparisons',
      { root: { type: 'condition', key: 'a', gt: 1, lt: 2 } },
      'root: expected exactly one of exists, equals, not_equals, gt, gte, lt, lte, in, contains; found gt, lt',
    ],
    ['no comparison', { root: { type: 'condition', key: 'a' } }, 'found none'],
    ['a set without a value', { root: { type: 'set', key: 'a' } }, 'root.value: expected a value'],
    ['a key of a prototype', { root: { type: 'set', key: '__proto__', value: 1 } }, 'root.key: expected a key'],
    [
      'a value that reaches for a prototype',
      { root: { type: 'set', key: 'a', value: JSON.parse('{"x":{"__proto__":{"isAdmin":true}}}') } },
      'root.value.x.__proto__: the key "__proto__" is not allowed',
    ],
    [
      'a schema that is none',
      { root: { type: 'llm', prompt: 'x', output_key: 'a', schema: { type: 'nope' } } },
      'root: schema: not a JSON Schema that can be used',
    ],
    [
      'constraints that are none',
      { root: { type: 'agent', task: 'x', output_key: 'a', constraints: { guard: { tool_policy: { x: 'maybe' } } } } },
      'root.constraints.guard.tool_policy.x',
    ],
    [
      'a name that is none',
      { root: toolNode('Not A Name') },
      'root.name: expected a name: a letter a-z, then at most 39 of a-z, 0-9, _ and -',
    ],
    [
      'two nodes of one name',
      { root: { type: 'sequence', children: [toolNode('a'), { type: 'inverter', child: toolNode('a') }] } },
      'root.children.1.child.name: duplicate name "a": root.children.0 has it already; expected another',
    ],
    [
      'a name that is another’s path',
      { root: { type: 'sequence', children: [{ type: 'tool', tool: 'x' }, toolNode('tool-1')] } },
      'duplicate name "tool-1"',
    ],
    ['65 levels', { root: deep(65) }, 'nested too deep: expected at most 64 nodes, one in another'],
    ['501 nodes', { root: wide(501) }, 'root.children.499: too many nodes: expected at most 500'],
    [
      'retries that multiply',
      { root: { type: 'retry', attempts: 20, child: { type: 'retry', attempts: 20, child: toolNode('t') } } },
      'root.child.attempts: retries in one another multiply: expected at most 200 attempts in all',
    ],
  ])('%s', (_what, value, message) => {
    expect(refusal(value)).toContain(message);
  });

  it('a tree that holds itself', () => {
    const root: { type: string; children: unknown[] } = { type: 'sequence', children: [] };
    root.children.push(root, root);
    expect(refusal({ root })).toContain('nested too deep');
  });

  it('all problems at once, at most 50', () => {
    const children = Array.from({ length: 80 }, () => ({ type: 'nope' }));
    expect(refusal({ root: { type: 'sequence', children } }).split('\n')).toHaveLength(50);
  });

  it('names that lead nowhere, when it is known what there is', () => {
    const held = (tool: string) => ({ constraints: { guard: { tool_policy: { [tool]: 'deny' } } } });
    const root = {
      type: 'sequence',
      children: [toolNode('a'), { type: 'agent', task: 't', output_key: 'k', agent: 'coder', skills: ['lint'], ...held('read_fiels') }],
    };
    const known = { tools: [{ name: 'read_files', aliases: [] }], agents: ['default'], skills: [] };
    expect(() => parseTree({ root }, 'f', () => 3, known)).toThrow(
      [
        'f:3: root.children.0.tool: there is no tool "read_file"; did you mean "read_files"?',
        'f:3: root.children.1.agent: there is no agent "coder"; expected one of default',
        'f:3: root.children.1.skills.0: there is no skill "lint"; expected one of none: there are none',
        'f:3: root.children.1.constraints.guard.tool_policy.read_fiels: there is no tool "read_fiels"; did you mean "read_files"?',
      ].join('\n'),
    );
    expect(
      parseTree({ root }, 'f', () => 3, {
        tools: [{ name: 'read_file', aliases: ['read_fiels'] }],
        agents: ['coder'],
        skills: ['lint'],
      }).root.type,
    ).toBe('sequence');
  });
});
