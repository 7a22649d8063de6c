import { describe, expect, it } from 'vitest';
import { BLACKBOARD_BYTES, TREE } from '../../../../lib/core/limits.ts';
import { TreeSteps, toolNode } from '../../../support/tree-steps.ts';

describe('tool node', () => {
  const root = { type: 'tool', name: 'read', tool: 'read_file', input_key: 'file', output_key: 'text' };

  it('is called with the object at its input key, and its value goes to its output key', () => {
    const steps = new TreeSteps(root, { file: { path: 'a.md' } });
    expect(steps.next()).toEqual({ kind: 'tools', calls: [{ path: 'read', tool: 'read_file', input: { path: 'a.md' }, covered: false }] });
    expect(steps.succeed('read', 'content').next()).toEqual({ kind: 'done', status: 'success' });
    expect(steps.blackboard).toEqual({ file: { path: 'a.md' }, text: 'content' });
    expect(steps.warnings).toEqual([]);
  });

  it.each([
    ['is missing', {}, 'there is no value at "file": called without arguments'],
    ['is text', { file: 'a.md' }, 'the value at "file" is not an object: called without arguments'],
    ['is a list', { file: ['a.md'] }, 'the value at "file" is not an object: called without arguments'],
    ['is null', { file: null }, 'the value at "file" is not an object: called without arguments'],
  ])('is called without arguments, with a warning, when its input %s', (_what, blackboard, message) => {
    const steps = new TreeSteps(root, blackboard);
    expect(steps.next()).toMatchObject({ kind: 'tools', calls: [{ input: {} }] });
    expect(steps.warnings).toEqual([{ path: 'read', message }]);
  });

  it('without an input key is called without arguments, and nobody is warned', () => {
    const steps = new TreeSteps(toolNode('list'));
    expect(steps.next()).toMatchObject({ kind: 'tools', calls: [{ input: {} }] });
    expect(steps.warnings).toEqual([]);
  });

  it('takes its input from within a value', () => {
    const steps = new TreeSteps({ ...root, input_key: 'jobs.1.args' }, { jobs: [0, { args: { path: 'b' } }] });
    expect(steps.next()).toMatchObject({ calls: [{ input: { path: 'b' } }] });
  });

  it('with execute: false succeeds without running', () => {
    const steps = new TreeSteps({ ...root, execute: false });
    expect(steps.next()).toEqual({ kind: 'done', status: 'success' });
    expect(steps.blackboard).toEqual({});
  });

  it('that fails is data: FAILURE with its path and why, and nothing on the blackboard', () => {
    const steps = new TreeSteps({ type: 'sequence', name: 'all', children: [root, toolNode('never')] });
    steps.next();
    const next = steps.fail('all/read', 'FILE_NOT_FOUND: a.md').next();
    expect(next).toEqual({ kind: 'done', status: 'failure', error: { path: 'all/read', message: 'FILE_NOT_FOUND: a.md' } });
    expect(steps.blackboard).toEqual({});
  });

  it('keeps no more of an error than a state should hold', () => {
    const steps = new TreeSteps(root).fail('read', 'x'.repeat(10_000));
    expect(steps.state['read']?.error).toHaveLength(TREE.errorCharacters);
  });
});

describe('llm node', () => {
  const root = { type: 'llm', name: 'sum', system: 'Be {{how}}.', prompt: 'Sum up {{report}}: {{ notes.0 }}', output_key: 'summary' };

  it('asks with its placeholders filled in', () => {
    const steps = new TreeSteps(root, { how: 'brief', report: { ok: true }, notes: ['first'] });
    expect(steps.next()).toEqual({
      kind: 'llm',
      path: 'sum',
      system: 'Be brief.',
      prompt: 'Sum up {\n  "ok": true\n}: first',
      outputKey: 'summary',
      untrusted: false,
    });
    expect(steps.succeed('sum', 'fine').next()).toEqual({ kind: 'done', status: 'success' });
    expect(steps.blackboard['summary']).toBe('fine');
  });

  it('hands on the schema of its answer', () => {
    const schema = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] };
    expect(new TreeSteps({ ...root, schema }).next()).toMatchObject({ kind: 'llm', schema });
  });

  it('leaves a gap for what is missing, and warns once', () => {
    const steps = new TreeSteps({ ...root, prompt: '[{{gone}}] [{{gone}}] {{constructor}}' });
    expect(steps.next()).toMatchObject({ prompt: '[] [] ' });
    expect(steps.warnings).toEqual([{ path: 'sum', message: 'nothing on the blackboard for {{gone}}, {{constructor}}, {{how}}' }]);
  });

  it('does not fill in what was filled in', () => {
    expect(new TreeSteps({ ...root, prompt: '{{a}}' }, { a: '{{how}}', how: 'x' }).next()).toMatchObject({ prompt: '{{how}}' });
  });

  it('fails when its prompt grows too long, and the tree goes on', () => {
    const prompt = '{{a}}{{a}}{{a}}';
    const steps = new TreeSteps(
      { type: 'selector', name: 'or', children: [{ ...root, prompt }, toolNode('plan_b')] },
      { a: 'x'.repeat(TREE.textCharacters / 2) },
    );
    expect(steps.next()).toMatchObject({ kind: 'tools', calls: [{ path: 'or/plan_b' }] });
    expect(steps.state['or/sum']).toEqual({
      status: 'failure',
      error: 'RESOURCE_EXHAUSTED: over 400000 characters with its placeholders filled in',
    });
  });
});

describe('agent node', () => {
  it('gives a task, seed messages and settings to a frame of its own', () => {
    const node = {
      type: 'agent',
      name: 'fix',
      task: 'Fix {{what}}',
      agent: 'coder',
      skills: ['lint'],
      history_limit: 3,
      seed_messages: [{ role: 'user', content: 'About {{what}}' }],
      output_key: 'fixed',
      constraints: { max_iterations: 4 },
    };
    const steps = new TreeSteps(node, { what: 'it' });
    expect(steps.next()).toEqual({
      kind: 'agent',
      path: 'fix',
      node,
      task: 'Fix it',
      seedMessages: [{ role: 'user', content: 'About it' }],
      untrusted: false,
    });
    expect(steps.fail('fix', 'RESOURCE_EXHAUSTED').next()).toMatchObject({ kind: 'done', status: 'failure', error: { path: 'fix' } });
  });
});

describe('condition node', () => {
  const holds = (test: object, blackboard: Record<string, never> | object): boolean => {
    const next = new TreeSteps({ type: 'condition', key: 'v', ...test }, { ...blackboard }).next();
    return next.kind === 'done' && next.status === 'success';
  };

  it.each([
    [{ exists: true }, { v: null }, true],
    [{ exists: true }, {}, false],
    [{ exists: false }, {}, true],
    [{ equals: 1 }, { v: 1 }, true],
    [{ equals: 1 }, { v: '1' }, false],
    [{ equals: { a: 1, b: [2] } }, { v: { b: [2], a: 1 } }, true],
    [{ equals: null }, {}, false],
    [{ not_equals: 1 }, { v: 2 }, true],
    [{ not_equals: 1 }, {}, true],
    [{ gt: 1 }, { v: 1 }, false],
    [{ gte: 1 }, { v: 1 }, true],
    [{ lt: 1 }, { v: 0 }, true],
    [{ lte: 1 }, { v: 2 }, false],
    [{ gt: 1 }, { v: '2' }, false],
    [{ lt: 1 }, {}, false],
    [{ in: ['a', 'b'] }, { v: 'b' }, true],
    [{ in: ['a', 'b'] }, {}, false],
    [{ contains: 'el' }, { v: 'hello' }, true],
    [{ contains: { n: 1 } }, { v: [{ n: 1 }] }, true],
    [{ contains: 'n' }, { v: { n: 1 } }, true],
    [{ contains: 'constructor' }, { v: { n: 1 } }, false],
    [{ contains: 1 }, { v: 1 }, false],
    [{ key: 'v.code', equals: 0 }, { v: { code: 0 } }, true],
    [{ key: 'v.constructor', exists: true }, { v: {} }, false],
  ])('%j on %j: %s', (test, blackboard, expected) => {
    expect(holds(test, blackboard)).toBe(expected);
  });

  it('is judged once, when it is reached', () => {
    const steps = new TreeSteps(
      { type: 'sequence', name: 's', children: [{ type: 'condition', key: 'v', equals: 1 }, toolNode('change', { output_key: 'v' })] },
      { v: 1 },
    );
    steps.next();
    expect(steps.succeed('s/change', 2).next()).toEqual({ kind: 'done', status: 'success' });
  });

  it('says what did not hold', () => {
    expect(new TreeSteps({ type: 'condition', key: 'v', gt: 3 }).next()).toMatchObject({
      error: { path: 'condition', message: 'does not hold: v gt 3' },
    });
  });
});

describe('set node', () => {
  const set = (value: unknown, blackboard: object = {}): TreeSteps => {
    const steps = new TreeSteps({ type: 'set', key: 'out', value }, { ...blackboard });
    steps.next();
    return steps;
  };

  it('writes a value with its placeholders filled in, at every depth', () => {
    const value = { code: 'echo {{who}}', list: ['{{n}}', 'n={{n}}'], whole: '{{obj}}', plain: 7 };
    expect(set(value, { who: 'me', n: 2, obj: { a: 1 } }).blackboard['out']).toEqual({
      code: 'echo me',
      list: [2, 'n=2'],
      whole: { a: 1 },
      plain: 7,
    });
  });

  it('writes null for a value that is missing, with a warning', () => {
    const steps = set('{{gone}}');
    expect(steps.blackboard).toEqual({ out: null });
    expect(steps.warnings).toHaveLength(1);
  });

  it('is carried out once', () => {
    const steps = new TreeSteps(
      { type: 'sequence', name: 's', children: [{ type: 'set', key: 'n', value: '{{n}}!' }, toolNode('one'), toolNode('two')] },
      { n: 'a' },
    );
    steps.next();
    steps.succeed('s/one').next();
    steps.succeed('s/two').next();
    expect(steps.blackboard['n']).toBe('a!');
  });

  it('fails, and writes nothing, when the blackboard would grow over its limit', () => {
    const double = { type: 'set', key: 'a', value: '{{a}}{{a}}' };
    const steps = new TreeSteps(
      { type: 'sequence', name: 's', children: Array.from({ length: 40 }, () => double) },
      { a: 'x'.repeat(1_000) },
    );
    expect(steps.next()).toMatchObject({
      kind: 'done',
      status: 'failure',
      error: { message: expect.stringContaining('RESOURCE_EXHAUSTED') },
    });
    expect(JSON.stringify(steps.blackboard).length).toBeLessThan(BLACKBOARD_BYTES);
  });

  it('leaves the blackboard it was given alone', () => {
    const given = { a: 1 };
    set('{{a}}', given);
    expect(given).toEqual({ a: 1 });
  });
});
