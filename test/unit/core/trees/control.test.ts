import { describe, expect, it } from 'vitest';
import { expireTimeouts } from '../../../../lib/core/trees/tick.ts';
import { TreeSteps, toolNode, toolPaths } from '../../../support/tree-steps.ts';

const llmNode = (name: string): object => ({ type: 'llm', name, prompt: name, output_key: name });
const agentNode = (name: string): object => ({ type: 'agent', name, task: name, output_key: name });
const named = (type: string, name: string, children: object[], more: object = {}): object => ({ type, name, ...more, children });

describe('sequence and selector', () => {
  it('a sequence goes on while its children succeed and ends with the first failure', () => {
    const steps = new TreeSteps(named('sequence', 's', [toolNode('a'), toolNode('b'), toolNode('c')]));
    expect(toolPaths(steps.next())).toEqual(['s/a']);
    expect(toolPaths(steps.succeed('s/a').next())).toEqual(['s/b']);
    expect(steps.fail('s/b').next()).toEqual({ kind: 'done', status: 'failure', error: { path: 's/b', message: 'no luck' } });
  });

  it('a selector goes on while its children fail and ends with the first success', () => {
    const steps = new TreeSteps(named('selector', 's', [toolNode('a'), toolNode('b'), toolNode('c')]));
    expect(toolPaths(steps.next())).toEqual(['s/a']);
    expect(toolPaths(steps.fail('s/a').next())).toEqual(['s/b']);
    expect(steps.succeed('s/b').next()).toEqual({ kind: 'done', status: 'success' });
  });

  it('a selector whose children all fail, fails as the last one did', () => {
    const steps = new TreeSteps(named('selector', 's', [toolNode('a'), toolNode('b')])).fail('s/a').fail('s/b', 'the last');
    expect(steps.next()).toMatchObject({ status: 'failure', error: { path: 's/b', message: 'the last' } });
  });
});

describe('parallel', () => {
  const both = (success: string) => new TreeSteps(named('parallel', 'p', [toolNode('a'), toolNode('b'), llmNode('c')], { success }));

  it('has all its ready tools in one stage, before anything else', () => {
    expect(toolPaths(both('all').next())).toEqual(['p/a', 'p/b']);
  });

  it('all: succeeds when every child has', () => {
    const steps = both('all').succeed('p/a').succeed('p/b');
    expect(steps.next()).toMatchObject({ kind: 'llm', path: 'p/c' });
    expect(steps.succeed('p/c').next()).toEqual({ kind: 'done', status: 'success' });
  });

  it('all: fails with the first failure, and drops what was ready', () => {
    expect(both('all').fail('p/b').next()).toMatchObject({ kind: 'done', status: 'failure', error: { path: 'p/b' } });
  });

  it('any: succeeds with the first success, and drops what was ready', () => {
    expect(both('any').fail('p/a').succeed('p/b').next()).toEqual({ kind: 'done', status: 'success' });
  });

  it('any: fails when every child has', () => {
    const steps = both('any').fail('p/a').fail('p/b');
    expect(steps.next()).toMatchObject({ kind: 'llm' });
    expect(steps.fail('p/c').next()).toMatchObject({ kind: 'done', status: 'failure' });
  });

  it('stays decided when a delay under it runs out later', () => {
    const flaky = { type: 'retry', name: 'r', attempts: 2, delay_s: 1, child: toolNode('flaky') };
    const steps = new TreeSteps(
      named('sequence', 's', [named('parallel', 'p', [flaky, toolNode('a')], { success: 'any' }), toolNode('next')]),
    );
    steps.next();
    expect(toolPaths(steps.fail('s/p/r/flaky').succeed('s/p/a').next())).toEqual(['s/next']);
    expect(toolPaths(steps.pass(5_000).next())).toEqual(['s/next']);
    expect(steps.succeed('s/next').next()).toEqual({ kind: 'done', status: 'success' });
  });

  it('drops only what stands under it', () => {
    const steps = new TreeSteps(
      named('parallel', 'p', [
        toolNode('a'),
        named('selector', 's', [named('parallel', 'q', [toolNode('x'), toolNode('y')]), toolNode('z')]),
      ]),
    );
    steps.next();
    expect(toolPaths(steps.fail('p/s/q/x').next())).toEqual(['p/a', 'p/s/z']);
  });
});

describe('order of preference', () => {
  it('is tools, llm, agent, approvals, delay: whatever the order in the tree', () => {
    const steps = new TreeSteps(
      named('parallel', 'p', [
        { type: 'retry', name: 'r', attempts: 2, delay_s: 5, child: toolNode('flaky') },
        { type: 'approval', name: 'ask', child: toolNode('asked') },
        { type: 'approval', name: 'ask_too', child: toolNode('asked_too') },
        agentNode('ag'),
        agentNode('ag2'),
        llmNode('m'),
        llmNode('m2'),
        toolNode('t'),
      ]),
    );
    expect(toolPaths(steps.next())).toEqual(['p/r/flaky', 'p/t']);
    expect(steps.fail('p/r/flaky').succeed('p/t').next()).toMatchObject({ kind: 'llm', path: 'p/m' });
    expect(steps.succeed('p/m').next()).toMatchObject({ kind: 'llm', path: 'p/m2' });
    expect(steps.succeed('p/m2').next()).toMatchObject({ kind: 'agent', path: 'p/ag' });
    expect(steps.succeed('p/ag').next()).toMatchObject({ kind: 'agent', path: 'p/ag2' });
    expect(steps.succeed('p/ag2').next()).toMatchObject({ kind: 'approvals', items: [{ path: 'p/ask' }, { path: 'p/ask_too' }] });
    expect(steps.decide('p/ask', 'before', 'approved').decide('p/ask_too', 'before', 'approved').next()).toMatchObject({ kind: 'tools' });
    expect(steps.succeed('p/ask/asked').succeed('p/ask_too/asked_too').next()).toEqual({ kind: 'wait', ms: 5_000 });
    expect(toolPaths(steps.pass(5_000).next())).toEqual(['p/r/flaky']);
    expect(steps.succeed('p/r/flaky').next()).toEqual({ kind: 'done', status: 'success' });
  });

  it('a tick of the same state gives the same answer', () => {
    const steps = new TreeSteps(named('parallel', 'p', [toolNode('a'), llmNode('b')]));
    const first = steps.next();
    expect(steps.next()).toEqual(first);
  });
});

describe('retry', () => {
  it('starts its child anew, at most `attempts` times in all, and then fails as it did', () => {
    const steps = new TreeSteps({ type: 'retry', name: 'r', attempts: 3, child: named('sequence', 's', [toolNode('a'), toolNode('b')]) });
    for (const _attempt of [1, 2]) {
      expect(toolPaths(steps.next())).toEqual(['r/s/a']);
      expect(toolPaths(steps.succeed('r/s/a').next())).toEqual(['r/s/b']);
      steps.fail('r/s/b');
    }
    steps.next();
    expect(steps.fail('r/s/a', 'third').next()).toMatchObject({ status: 'failure', error: { path: 'r/s/a', message: 'third' } });
  });

  it('waits between attempts; several delays: the shortest', () => {
    const retry = (name: string, delay: number): object => ({
      type: 'retry',
      name,
      attempts: 2,
      delay_s: delay,
      child: toolNode(`t_${name}`),
    });
    const steps = new TreeSteps(named('parallel', 'p', [retry('slow', 9), retry('quick', 2.5)]));
    steps.next();
    expect(steps.fail('p/slow/t_slow').fail('p/quick/t_quick').next()).toEqual({ kind: 'wait', ms: 2_500 });
    expect(steps.pass(1_000).next()).toEqual({ kind: 'wait', ms: 1_500 });
    expect(toolPaths(steps.pass(1_500).next())).toEqual(['p/quick/t_quick']);
  });

  it('carries out conditions and set nodes again, and leaves the blackboard as it is', () => {
    const count = { type: 'set', key: 'n', value: '{{n}}i' };
    const steps = new TreeSteps(
      { type: 'retry', attempts: 3, child: named('sequence', 's', [count, { type: 'condition', key: 'n', equals: 'iii' }]) },
      { n: '' },
    );
    expect(steps.next()).toEqual({ kind: 'done', status: 'success' });
    expect(steps.blackboard['n']).toBe('iii');
  });
});

describe('timeout', () => {
  const root = { type: 'timeout', name: 't', ms: 100, child: named('sequence', 's', [toolNode('a'), toolNode('b')]) };

  it('fails with its own path when its time is over', () => {
    const steps = new TreeSteps(root);
    steps.next();
    expect(toolPaths(steps.succeed('t/s/a').pass(99).next())).toEqual(['t/s/b']);
    expect(steps.pass(1).next()).toEqual({
      kind: 'done',
      status: 'failure',
      error: { path: 't', message: 'TIMEOUT: not done within 100 ms of active time' },
    });
  });

  it('counts active time from when it is reached, not time that people take', () => {
    const steps = new TreeSteps(named('sequence', 'all', [toolNode('first'), root]));
    steps.next();
    steps.pass(500).succeed('all/first').next();
    steps.now += 3_600_000;
    expect(toolPaths(steps.next())).toEqual(['all/t/s/a']);
  });

  it('lets a child that ends in the same step count', () => {
    const steps = new TreeSteps(root);
    steps.next();
    steps.succeed('t/s/a').next();
    expect(steps.succeed('t/s/b').pass(1_000).next()).toEqual({ kind: 'done', status: 'success' });
  });

  it('ends a longer delay under it', () => {
    const steps = new TreeSteps({
      type: 'timeout',
      name: 't',
      ms: 100,
      child: { type: 'retry', attempts: 2, delay_s: 60, child: toolNode('a') },
    });
    steps.next();
    expect(steps.fail('t/retry/a').pass(30).next()).toEqual({ kind: 'wait', ms: 70 });
    expect(steps.pass(70).next()).toMatchObject({ kind: 'done', status: 'failure', error: { path: 't' } });
  });

  it('starts anew under a retry', () => {
    const steps = new TreeSteps({ type: 'retry', attempts: 2, child: { ...root } });
    steps.next();
    expect(toolPaths(steps.pass(100).next())).toEqual(['retry/t/s/a']);
    expect(toolPaths(steps.pass(99).next())).toEqual(['retry/t/s/a']);
  });

  describe('while a frame lies on the tree', () => {
    const tree = {
      type: 'selector',
      name: 'x',
      children: [{ type: 'timeout', name: 't', ms: 100, child: agentNode('ag') }, toolNode('plan_b')],
    };

    it('is failed by expireTimeouts, which names it', () => {
      const steps = new TreeSteps(tree);
      expect(steps.next()).toMatchObject({ kind: 'agent' });
      expect(expireTimeouts(steps.tree, steps.state, 99)).toEqual({ state: steps.state, expired: [] });
      const { state, expired } = expireTimeouts(steps.tree, steps.state, 100);
      expect(expired).toEqual(['x/t']);
      steps.state = state;
      expect(toolPaths(steps.next())).toEqual(['x/plan_b']);
      expect(expireTimeouts(steps.tree, steps.state, 1_000).expired).toEqual([]);
    });

    it('is not failed when its child has ended', () => {
      const steps = new TreeSteps(tree);
      steps.next();
      expect(expireTimeouts(steps.tree, steps.succeed('x/t/ag', 'ok').state, 500).expired).toEqual([]);
    });
  });
});

describe('inverter', () => {
  it('turns success into failure and failure into success', () => {
    const steps = (): TreeSteps => new TreeSteps({ type: 'inverter', name: 'not', child: toolNode('a') });
    expect(steps().succeed('not/a').next()).toMatchObject({ status: 'failure', error: { path: 'not' } });
    expect(steps().fail('not/a').next()).toEqual({ kind: 'done', status: 'success' });
  });
});

describe('approval', () => {
  const approval = (more: object = {}): object => ({ type: 'approval', name: 'ask', child: toolNode('pub'), ...more });
  const asks = (phase: string, attempt = 1) => ({ kind: 'approvals', items: [{ path: 'ask', phase, attempt, title: 'ask' }] });

  it('before: the child runs once it is approved, covered', () => {
    const steps = new TreeSteps(approval());
    expect(steps.next()).toEqual(asks('before'));
    expect(steps.decide('ask', 'before', 'approved').next()).toMatchObject({ kind: 'tools', calls: [{ path: 'ask/pub', covered: true }] });
    expect(steps.succeed('ask/pub').next()).toEqual({ kind: 'done', status: 'success' });
  });

  it('before: rejected, the child does not run and it fails', () => {
    const steps = new TreeSteps(approval()).decide('ask', 'before', 'rejected');
    expect(steps.next()).toEqual({
      kind: 'done',
      status: 'failure',
      error: { path: 'ask', message: 'APPROVAL_REJECTED: not approved before it was carried out' },
    });
  });

  it('before: rejected with success_skip, the child does not run and it succeeds', () => {
    expect(new TreeSteps(approval({ on_reject: 'success_skip' })).decide('ask', 'before', 'rejected').next()).toEqual({
      kind: 'done',
      status: 'success',
    });
  });

  it('after: the child runs uncovered, then a person is asked', () => {
    const steps = new TreeSteps(approval({ phase: 'after' }));
    expect(steps.next()).toMatchObject({ kind: 'tools', calls: [{ covered: false }] });
    expect(steps.succeed('ask/pub').next()).toMatchObject({ kind: 'approvals', items: [{ phase: 'after', childStatus: 'success' }] });
    expect(steps.decide('ask', 'after', 'approved').next()).toEqual({ kind: 'done', status: 'success' });
  });

  it.each([
    ['failure', 'failure'],
    ['success_skip', 'success'],
  ])('after: rejected with on_reject %s gives %s', (onReject, status) => {
    const steps = new TreeSteps(approval({ phase: 'after', on_reject: onReject })).succeed('ask/pub').decide('ask', 'after', 'rejected');
    expect(steps.next()).toMatchObject({ kind: 'done', status });
  });

  it('after: a child that failed is shown too, and stays failed when that is approved', () => {
    const steps = new TreeSteps(approval({ phase: 'after' })).fail('ask/pub');
    expect(steps.next()).toMatchObject({ items: [{ phase: 'after', childStatus: 'failure' }] });
    expect(steps.decide('ask', 'after', 'approved').next()).toMatchObject({ status: 'failure', error: { path: 'ask/pub' } });
  });

  it('both: asks twice', () => {
    const steps = new TreeSteps(approval({ phase: 'both' }));
    expect(steps.next()).toEqual(asks('before'));
    expect(steps.decide('ask', 'before', 'approved').next()).toMatchObject({ kind: 'tools', calls: [{ covered: true }] });
    expect(steps.succeed('ask/pub').next()).toMatchObject({ items: [{ phase: 'after' }] });
    expect(steps.decide('ask', 'after', 'approved').next()).toEqual({ kind: 'done', status: 'success' });
  });

  it('is asked anew when a retry above it starts again: another attempt, no old answer', () => {
    const steps = new TreeSteps({ type: 'retry', attempts: 3, child: approval({ phase: 'both' }) });
    const path = 'retry/ask';
    steps.decide(path, 'before', 'approved').next();
    expect(steps.fail('retry/ask/pub').next()).toMatchObject({ items: [{ path, phase: 'after', attempt: 1 }] });
    expect(steps.decide(path, 'after', 'approved').next()).toMatchObject({ items: [{ path, phase: 'before', attempt: 2 }] });
    expect(steps.decide(path, 'before', 'rejected').next()).toMatchObject({ items: [{ path, phase: 'before', attempt: 3 }] });
  });

  it('under two retries never has the same attempt twice', () => {
    const inner = { type: 'retry', name: 'in', attempts: 2, child: approval() };
    const steps = new TreeSteps({ type: 'retry', name: 'out', attempts: 2, child: inner });
    const attempts: number[] = [];
    for (let next = steps.next(); next.kind === 'approvals'; next = steps.next()) {
      for (const { path, phase, attempt } of next.items) {
        attempts.push(attempt);
        steps.decide(path, phase, 'rejected');
      }
    }
    expect(attempts).toEqual([1, 2, 3, 4]);
  });

  it('stays given when a retry under it starts its child again', () => {
    const steps = new TreeSteps({ type: 'approval', name: 'ask', child: { type: 'retry', attempts: 2, child: toolNode('pub') } });
    steps.decide('ask', 'before', 'approved').next();
    expect(steps.fail('ask/retry/pub').next()).toMatchObject({ kind: 'tools', calls: [{ covered: true }] });
  });

  it('tells people what is on the blackboard, not more than they can read', () => {
    const steps = new TreeSteps(approval({ title: 'Publish {{version}}?', message: '{{summary}}' }), {
      version: '1.2',
      summary: 'x'.repeat(500_000),
    });
    const next = steps.next();
    expect(next).toMatchObject({ kind: 'approvals', items: [{ title: 'Publish 1.2?', message: expect.stringMatching(/^x{3999}…$/) }] });
  });
});
