import { describe, expect, it } from 'vitest';
import type { ToolContext } from '../../../../lib/core/hands/category.ts';
import { LoopRig, type RigTool } from '../../../support/loop-rig.ts';
import { faultsIn, resultsIn } from '../../../support/replay.ts';

/** Tools that say what they were given of earlier results. */
function tools(definitions: readonly RigTool['definition'][]): { tools: RigTool[]; given: Map<string, string[]> } {
  const given = new Map<string, string[]>();
  const handle = (_args: unknown, { callId, previousResults }: ToolContext): string => {
    given.set(
      callId,
      previousResults.map(({ tool, result }) => `${tool}: ${result.data}`),
    );
    return `result of ${callId}`;
  };
  return { tools: definitions.map((definition) => ({ definition, handle })), given };
}

describe('calls of one message that depend on each other', () => {
  it('run in the order of their dependencies, whatever the order asked, and are answered in the order asked', async () => {
    const { tools: some, given } = tools([
      { name: 'search', parallelSafe: true },
      { name: 'fetch', parallelSafe: true, after: ['search'] },
    ]);
    const rig = new LoopRig({
      tools: some,
      turns: [
        {
          calls: [
            ['fetch', {}],
            ['search', {}],
          ],
        },
        'done',
      ],
    });
    expect(await rig.run()).toMatchObject({ status: 'succeeded' });
    expect([...given]).toEqual([
      ['c1-1', []],
      ['c1-0', ['search: result of c1-1']],
    ]);
    expect(resultsIn(rig.prompts[1]).map(({ text }) => text)).toEqual(['result of c1-0', 'result of c1-1']);
  });

  it('that wait for each other in a circle are all answered with an error that names them, and none runs', async () => {
    const { tools: some, given } = tools([{ name: 'hen', after: ['egg'] }, { name: 'egg', after: ['hen'] }, { name: 'nest' }]);
    const rig = new LoopRig({
      tools: some,
      turns: [
        {
          calls: [
            ['hen', {}],
            ['nest', {}],
            ['egg', {}],
          ],
        },
        'done',
      ],
    });
    expect(await rig.run()).toMatchObject({ status: 'succeeded', answer: 'done' });
    const results = resultsIn(rig.prompts[1]);
    expect(results).toHaveLength(3);
    for (const { text } of results) expect(text).toMatch(/INVALID_ARGUMENTS[\s\S]*c1-0 \(hen\), c1-2 \(egg\)/);
    expect(given.size).toBe(0);
    expect(faultsIn(rig.prompts)).toEqual([]);
  });

  it('one after another each see what came before, and a failure does not stop the rest', async () => {
    const { tools: some, given } = tools([{ name: 'step' }]);
    const failing: RigTool = {
      definition: { name: 'stumble' },
      handle: () => {
        throw new Error('over a stone');
      },
    };
    const rig = new LoopRig({
      tools: [...some, failing],
      turns: [
        {
          calls: [
            ['step', {}],
            ['stumble', {}],
            ['step', { n: 2 }],
          ],
        },
        'done',
      ],
    });
    expect(await rig.run()).toMatchObject({ status: 'succeeded' });
    expect(given.get('c1-2')).toEqual(['step: result of c1-0', 'stumble: undefined']);
  });
});
