import { describe, expect, it } from 'vitest';
import { customCheckers } from '../../../../lib/core/guard/custom-checkers.ts';
import type { Checker } from '../../../../lib/core/guard/decision.ts';
import { preflight } from '../../../../lib/core/guard/preflight.ts';
import { preflightCall, preflightInput } from '../../../support/guard.ts';

const checker = (name: string, rest: Partial<Checker> = {}): Checker => ({
  name,
  check: async () => ['ALLOW', 'fine'],
  reset: () => undefined,
  ...rest,
});
const moduleOf = (createChecker: unknown, path = './one.ts') => ({ path, module: { createChecker } });
const verdictUnder = async (createChecker: () => unknown) => {
  const outcome = await preflight(
    preflightInput([preflightCall(0, 'look')], { customCheckers: customCheckers([moduleOf(createChecker)]) }),
  );
  return outcome.verdicts.get('c1-0');
};

describe('custom checkers', () => {
  it('stand before confirm, in the order of the configuration, fresh at each pass', async () => {
    let made = 0;
    const modules = ['first', 'second'].map((name) =>
      moduleOf(() => {
        made += 1;
        return checker(name);
      }),
    );
    const factory = customCheckers(modules);
    const outcome = await preflight(preflightInput([preflightCall(0, 'look')], { customCheckers: factory }));
    expect(outcome.verdicts.get('c1-0')?.answers.map((answer) => answer.checker)).toEqual([
      'tool_policy',
      'rate_limit',
      'budget',
      'flow',
      'first',
      'second',
      'confirm',
    ]);
    expect(made).toBe(4);
  });

  it('whose name is taken, by another or by a built-in one, are refused at the start', () => {
    const twice = [moduleOf(() => checker('mine')), moduleOf(() => checker('mine'), './two.ts')];
    expect(() => customCheckers(twice)).toThrow(expect.objectContaining({ code: 'CONFLICT', field: 'constraints.guard.checkers' }));
    for (const name of ['tool_policy', 'rate_limit', 'budget', 'flow', 'confirm'])
      expect(() => customCheckers([moduleOf(() => checker(name))])).toThrow(/two checkers are named/);
  });

  it.each<[string, unknown]>([
    ['no module', undefined],
    ['no factory', {}],
    [
      'a factory that throws',
      {
        createChecker: () => {
          throw new Error('no licence');
        },
      },
    ],
    ['a factory that gives nothing', { createChecker: () => undefined }],
    ['a promise', { createChecker: async () => checker('late') }],
    ['a checker without a name', { createChecker: () => ({ check: () => undefined, reset: () => undefined }) }],
    ['a name that no log could show', { createChecker: () => checker('My Checker') }],
    ['no reset', { createChecker: () => ({ name: 'a', check: () => undefined }) }],
    ['a restore that is none', { createChecker: () => ({ ...checker('a'), restore: 1 }) }],
  ])('refuses %s at the start, naming the entry', (_what, module) => {
    expect(() => customCheckers([moduleOf(() => checker('good')), { path: './bad.ts', module }])).toThrow(
      expect.objectContaining({ code: 'BAD_REQUEST', field: 'constraints.guard.checkers.1', message: expect.stringContaining('./bad.ts') }),
    );
  });

  it('that throw, answer nonsense or cannot be made any more deny', async () => {
    expect(
      await verdictUnder(() =>
        checker('mine', {
          check: async () => {
            throw new Error('down');
          },
        }),
      ),
    ).toMatchObject({ verdict: 'deny', reason: 'checker mine failed: down' });
    expect(await verdictUnder(() => checker('mine', { check: (async () => 'yes') as never }))).toMatchObject({ verdict: 'deny' });
    let made = 0;
    const once = () => {
      if (made++ > 0) throw new Error('out of licences');
      return checker('mine');
    };
    expect(await verdictUnder(once)).toMatchObject({ verdict: 'deny', reason: 'checker mine could not be made: out of licences' });
    let names = 0;
    expect(await verdictUnder(() => checker(`mine_${names++}`))).toMatchObject({ verdict: 'deny', checker: 'mine_0' });
  });
});
