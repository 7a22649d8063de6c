import { describe, expect, it } from 'vitest';
import { drawMermaid, drawText, nodeStatuses } from '../../../../lib/core/trees/draw.ts';
import { TreeSteps, toolNode } from '../../../support/tree-steps.ts';

const root = {
  type: 'sequence',
  name: 'release',
  children: [
    { type: 'parallel', name: 'checks', success: 'any', children: [toolNode('lint'), toolNode('test')] },
    { type: 'condition', key: 'v.code', equals: 0 },
    { type: 'approval', name: 'ask', phase: 'both', child: { type: 'tool', name: 'publish', tool: 'write_file', execute: false } },
    { type: 'llm', prompt: 'x', output_key: 'y' },
  ],
};

describe('a drawing', () => {
  it('in text shows the tree', () => {
    expect(drawText(new TreeSteps(root).tree)).toBe(`sequence release: in order
├─ parallel checks: at once, any must succeed
│  ├─ tool lint: read_file
│  └─ tool test: read_file
├─ condition: v.code equals 0
├─ approval ask: a person decides before and after
│  └─ tool publish: write_file, not run
└─ llm: asks the model
`);
  });

  it('shows how far a run is', () => {
    const steps = new TreeSteps(root, { v: { code: 0 } });
    steps.next();
    steps.fail('release/checks/lint');
    steps.next();
    steps.succeed('release/checks/test').next();
    expect(drawText(steps.tree, steps.state)).toBe(`… sequence release: in order
├─ ✓ parallel checks: at once, any must succeed
│  ├─ ✗ tool lint: read_file
│  └─ ✓ tool test: read_file
├─ ✓ condition: v.code equals 0
├─ … approval ask: a person decides before and after
│  └─ · tool publish: write_file, not run
└─ · llm: asks the model
`);
  });

  it('tells what was dropped from what was not reached', () => {
    const steps = new TreeSteps({
      type: 'parallel',
      name: 'p',
      children: [{ type: 'sequence', name: 's', children: [toolNode('a'), toolNode('b')] }, toolNode('c'), toolNode('d')],
    });
    steps.next();
    steps.fail('p/c').next();
    expect(Object.fromEntries(nodeStatuses(steps.tree, steps.state))).toEqual({
      p: 'failure',
      'p/s': 'dropped',
      'p/s/a': 'dropped',
      'p/s/b': 'idle',
      'p/c': 'failure',
      'p/d': 'dropped',
    });
  });

  it('in Mermaid shows the same', () => {
    const steps = new TreeSteps({ type: 'inverter', name: 'not', child: toolNode('a') });
    expect(drawMermaid(steps.tree)).toBe('flowchart TD\n  n1("inverter not: not")\n  n2["tool a: read_file"]\n  n1 --> n2\n');
    steps.next();
    const drawn = drawMermaid(steps.tree, steps.fail('not/a').state);
    expect(drawn).toContain('n1("✓ inverter not: not"):::success');
    expect(drawn).toContain('n2["✗ tool a: read_file"]:::failure');
    expect(drawn).toMatch(/classDef failure fill:#\w+/);
    expect(drawn).not.toContain('classDef idle');
  });

  it('does not let the text of a node draw anything', () => {
    const value = 'x"] --> n9["<script>alert(1)</script>`#quot;\u001b[31m\nnew line';
    const { tree } = new TreeSteps({ type: 'condition', key: 'k', equals: value });
    expect(drawMermaid(tree).split('\n')).toHaveLength(3);
    expect(drawMermaid(tree)).not.toMatch(/<script|"\] --> n9/);
    expect(drawText(tree).split('\n')).toHaveLength(2);
    expect(drawText(tree)).not.toContain('\u001b');
  });
});
