import { describe, expect, it } from 'vitest';
import { customCheckers } from '../../../../lib/core/guard/custom-checkers.ts';
import type { Checker } from '../../../../lib/core/guard/decision.ts';
import * as noPrivateKeys from '../../../fixtures/checkers/no-private-keys.ts';
import { LoopRig, type RigOptions } from '../../../support/loop-rig.ts';

const rigWith = (createChecker: () => Checker, options: RigOptions): LoopRig => {
  const rig = new LoopRig(options);
  Object.assign(rig.deps, { customCheckers: customCheckers([{ path: './checker.ts', module: { createChecker } }]) });
  return rig;
};

describe("the app's own checker in a run", () => {
  it('denies what it sees in the arguments of any tool', async () => {
    const key = '-----BEGIN RSA PRIVATE KEY-----\nMII';
    const rig = rigWith(noPrivateKeys.createChecker, {
      turns: [{ calls: [['look', { text: key }]] }, { calls: [['look', { text: 'x' }]] }, 'ok'],
    });
    expect(await rig.run()).toMatchObject({ status: 'succeeded' });
    expect([...rig.handled.keys()]).toEqual(['c2-0']);
    expect(JSON.stringify(rig.prompts[1]?.messages)).toContain('the arguments of look hold a private key');
  });

  it('keeps its state from step to step, over LLM calls too, and starts anew in another run', async () => {
    const seen: number[] = [];
    const counting = (): Checker => {
      let calls = 0;
      return {
        name: 'counting',
        check: async () => {
          seen.push(++calls);
          return ['ALLOW', 'counted'];
        },
        reset: () => {
          calls = 0;
        },
        save: () => ({ calls }),
        restore: (state) => {
          calls = Number(state['calls']);
        },
      };
    };
    const rig = rigWith(counting, { turns: [{ calls: [['look', {}]] }, 'ok'] });
    await rig.run();
    expect(seen).toEqual([1, 2, 3]);
    await rig.run('again');
    expect(seen).toEqual([1, 2, 3, 1, 2, 3]);
  });

  it('may have a person asked, and may deny an LLM call, which ends the run with its reason', async () => {
    const asking: Checker = {
      name: 'asking',
      check: async (action) => [action === 'tool_call' ? 'CONFIRM' : 'ALLOW', 'Friday'],
      reset: () => undefined,
    };
    expect(await rigWith(() => asking, { turns: [{ calls: [['look', {}]] }, 'ok'] }).run()).toMatchObject({ status: 'waiting' });
    const closed: Checker = { name: 'closed', check: async () => ['DENY', 'the office is closed'], reset: () => undefined };
    const rig = rigWith(() => closed, { turns: ['never'] });
    expect(await rig.run()).toMatchObject({
      status: 'failed',
      outcome: 'error',
      error: { code: 'GUARD_DENIED', message: expect.stringContaining('the office is closed') },
    });
    expect(rig.prompts).toEqual([]);
  });
});
