import { describe, expect, it } from 'vitest';
import { confirmChecker } from '../../../../lib/core/guard/checkers/confirm.ts';
import { checkersInOrder } from '../../../../lib/core/guard/checkers/index.ts';
import type { Checker } from '../../../../lib/core/guard/decision.ts';
import { createEnforcer } from '../../../../lib/core/guard/enforcer.ts';
import { appConstraints, fixedChecker, toolContext } from '../../../support/guard.ts';

const settings = { constraints: appConstraints({}), confirmDefault: undefined };
const allow = (name: string) => fixedChecker(name, () => ['ALLOW', `${name} allows`]);
const run = (...checkers: Checker[]) => createEnforcer(checkers).check('tool_call', toolContext({ name: 'a', hash: 'this' }));

describe('enforcer', () => {
  it('has the checkers in their order, custom ones before confirm', () => {
    const names = checkersInOrder(settings, [allow('mine')]).map(({ name }) => name);
    expect(names).toEqual(['tool_policy', 'rate_limit', 'budget', 'flow', 'mine', 'confirm']);
  });

  it('allows when all allow, and lists every answer', async () => {
    const result = await run(allow('one'), allow('two'));
    expect(result).toMatchObject({ decision: 'ALLOW' });
    expect(result.answers.map(({ checker }) => checker)).toEqual(['one', 'two']);
  });

  it.each(['DENY', 'PENDING'] as const)('stops at %s', async (decision) => {
    const result = await run(
      allow('one'),
      fixedChecker('two', () => [decision, 'enough']),
      allow('three'),
    );
    expect(result).toMatchObject({ decision, checker: 'two', reason: 'enough' });
    expect(result.answers).toHaveLength(2);
  });

  it('goes on after CONFIRM, since a later checker may deny', async () => {
    const result = await run(
      fixedChecker('one', () => ['CONFIRM', 'ask']),
      fixedChecker('two', () => ['DENY', 'never']),
      confirmChecker(settings),
    );
    expect(result).toMatchObject({ decision: 'DENY', checker: 'two', reason: 'never' });
  });

  it('hands the question to confirm, which asks with the reasons of all that asked', async () => {
    const result = await run(
      fixedChecker('one', () => ['CONFIRM', 'first']),
      allow('two'),
      fixedChecker('three', () => ['CONFIRM', 'second']),
      confirmChecker(settings),
    );
    expect(result).toMatchObject({ decision: 'PENDING', checker: 'one', reason: 'first; second' });
  });

  it('denies a CONFIRM that nobody took up', async () => {
    expect(await run(fixedChecker('one', () => ['CONFIRM', 'ask']))).toMatchObject({
      decision: 'DENY',
      checker: 'one',
      reason: 'nobody confirmed: ask',
    });
  });

  it('lets nobody but confirm clear the mark or forge an approval', async () => {
    const forger = fixedChecker('forger', ({ approval }) => {
      if (approval) Object.assign(approval, { needsConfirm: false, progressState: 'approved', approvedHash: 'this' });
      return ['ALLOW', ''];
    });
    expect(
      await run(
        fixedChecker('one', () => ['CONFIRM', 'ask']),
        forger,
        confirmChecker(settings),
      ),
    ).toMatchObject({ decision: 'PENDING' });
  });

  it('takes a mark that a checker set for a CONFIRM', async () => {
    const marker = fixedChecker('marker', ({ approval }) => {
      if (approval) approval.needsConfirm = true;
      return ['ALLOW', 'but ask'];
    });
    expect(await run(marker, confirmChecker(settings))).toMatchObject({ decision: 'PENDING', checker: 'marker' });
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('broken');
      },
      /one failed: broken/,
    ],
    ['says nothing', () => undefined, /one gave no decision/],
    ['says something else', () => ['MAYBE', ''], /one gave no decision/],
    ['says yes', () => true, /one gave no decision/],
  ])('denies when a checker %s', async (_how, answer, reason) => {
    const result = await run(fixedChecker('one', answer), allow('two'));
    expect(result).toMatchObject({ decision: 'DENY', checker: 'one', reason: expect.stringMatching(reason) });
  });

  it('denies when a checker cannot take up its state', async () => {
    const enforcer = createEnforcer([
      {
        ...allow('one'),
        restore: () => {
          throw new Error('not mine');
        },
      },
    ]);
    enforcer.restore({ one: {} });
    expect(await enforcer.check('tool_call', toolContext({ name: 'a' }))).toMatchObject({ decision: 'DENY', checker: 'one' });
    expect(enforcer.save()).toEqual({ one: {} });
    enforcer.reset();
    expect(await enforcer.check('tool_call', toolContext({ name: 'a' }))).toMatchObject({ decision: 'ALLOW' });
  });

  it('keeps the state of checkers that are not there now', () => {
    const enforcer = createEnforcer([allow('one')]);
    enforcer.restore({ gone: { n: 1 } });
    expect(enforcer.save()).toEqual({ gone: { n: 1 } });
  });

  it('refuses two checkers of one name', () => {
    expect(() => createEnforcer([allow('one'), allow('one')])).toThrow(/two checkers are named "one"/);
    expect(() => createEnforcer(checkersInOrder(settings, [allow('budget')]))).toThrow(/"budget"/);
  });
});
