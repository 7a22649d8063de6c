import { describe, expect, it } from 'vitest';
import { changePolicy } from '../../../../lib/core/guard/change-policy.ts';
import type { GuardConstraints } from '../../../../lib/core/guard/constraints.ts';
import type { Run } from '../../../../lib/core/loop/run.ts';
import type { ModelRequest } from '../../../../lib/core/ports/model.ts';
import { LoopRig, type RigOptions, type RigTool } from '../../../support/loop-rig.ts';
import { givenFiles, loadFrom } from '../../../support/skill-folders.ts';
import { treeSkill as skill } from '../../../support/tree-skill.ts';

const bt = (name: string) => ['run_bt_skill', { skill: name }] as const;
const tools: readonly RigTool[] = [{ definition: { name: 'look' } }, { definition: { name: 'write' } }];
const lastUser = (request: ModelRequest): string => {
  const last = request.messages.findLast((message) => message.role === 'user');
  return last?.role === 'user' ? last.text : '';
};
/** What the child whose task is `task` says, and what everybody else does. */
const talk =
  (
    task: string,
    child: (turn: number) => ReturnType<Exclude<NonNullable<RigOptions['turns']>, readonly unknown[]>>,
    parent: RigOptions['turns'],
  ) =>
  (request: ModelRequest, turn: number) =>
    lastUser(request) === task ? child(turn) : ((parent as readonly never[])[turn] ?? 'done');
const events = async (rig: LoopRig, run: Run) => rig.stores.runs.readEvents(run, 0);
const started = async (rig: LoopRig, run: Run): Promise<unknown[]> =>
  (await events(rig, run)).flatMap(({ type, data }) => (type === 'tool.call.started' ? [data['tool']] : []));
const setPolicy = (rig: LoopRig, guard: GuardConstraints) =>
  changePolicy(
    { guard: rig.stores.guard, clock: rig.clock, operatorTenant: 't1' },
    { tenant: 't1', principal: 'ops', scope: 'tenant', version: 0, guard },
  );

describe('a call that pushes a frame', () => {
  it('is a stage of its own in every mode, and goes to no Lambda', async () => {
    const rig = new LoopRig({
      tools,
      trees: [skill('one', 'root: { type: set, key: skill_result, value: made }')],
      config: { agents: { default: { mode: 'parallel' } } },
      turns: [{ calls: [['look', {}], bt('one'), ['write', {}]] }, 'done'],
    });
    const run = await rig.run();
    const results = (await rig.transcript(run)).flatMap(({ message }) =>
      message.role === 'observation' ? [[message.tool, message.result.error?.code ?? message.result.data]] : [],
    );
    expect(results).toEqual([
      ['look', 'look ok'],
      ['run_bt_skill', 'made'],
      ['write', 'write ok'],
    ]);
  });

  it('is one too where a tree asks for it beside others', async () => {
    const outer = `root: { type: parallel, success: all, children: [ { type: tool, tool: look }, { type: tool, tool: run_bt_skill, input_key: which } ] }`;
    const rig = new LoopRig({
      tools,
      trees: [
        skill('outer', `root: { type: sequence, children: [ { type: set, key: which, value: { skill: inner } }, ${outer.slice(6)} ] }`),
        skill('inner', 'root: { type: set, key: skill_result, value: made }'),
      ],
      turns: [{ calls: [bt('outer')] }, 'done'],
    });
    const run = await rig.run();
    expect(await started(rig, run)).toEqual(['run_bt_skill', 'look', 'run_bt_skill']);
    expect((await events(rig, run)).filter(({ type }) => type === 'tool.call.failed')).toEqual([]);
    expect(run.status).toBe('succeeded');
  });
});

describe('a child', () => {
  it('that is tried again in the step in which it failed has a transcript of its own', async () => {
    let failures = 1;
    const rig = new LoopRig({
      tools,
      trees: [
        skill('again', 'root: { type: retry, attempts: 2, child: { type: agent, name: helper, task: "Help", output_key: skill_result } }'),
      ],
      turns: talk('Help', () => {
        if (failures-- > 0) throw new Error('overloaded');
        return 'helped';
      }, [{ calls: [bt('again')] }, 'done']),
    });
    const run = await rig.run();
    expect(run).toMatchObject({ status: 'succeeded', answer: 'done' });
    const asked = rig.prompts.filter((prompt) => lastUser(prompt) === 'Help');
    expect(asked).toHaveLength(2);
    expect(asked[1]?.messages).toEqual(asked[0]?.messages);
    const frames = (await events(rig, run)).flatMap(({ type, data }) => (type === 'frame.started' ? [data['frame']] : []));
    expect(new Set(frames).size).toBe(frames.length);
  });

  it('that a timeout ends takes nothing else along whose name only begins like it', async () => {
    const yaml = `
root:
  type: parallel
  success: any
  children:
    - { type: timeout, name: slow, ms: 1000, child: { type: tool, tool: look } }
    - { type: sequence, name: slow-2, children: [ { type: tool, tool: write }, { type: set, key: skill_result, value: written } ] }
`;
    const rig = new LoopRig({
      tools,
      trees: [skill('race', yaml)],
      turns: [{ calls: [bt('race')] }, 'done'],
    });
    const { tools: limits } = rig.deps.config.hands.concurrency;
    Object.assign(limits, { look: 0, write: 0 });
    const { runId } = await rig.start();
    // Both wait for a permit; by the time the first gives up there is one for the second.
    for (let n = 0; n < 2; n++) for (const name of rig.executions.keys()) await rig.advance(name);
    limits['write'] = 1;
    const run = await rig.settle(runId);
    const failed = (await events(rig, run)).flatMap(({ type, data }) => (type === 'tool.call.failed' ? [data['tool']] : []));
    expect(failed).toEqual(['look']);
    expect(JSON.stringify(rig.prompts.at(-1)?.messages)).toContain('written');
  });

  it('counts its calls against its own limit, and those below count them too', async () => {
    const yaml = `root: { type: sequence, children: [ { type: tool, tool: look }, { type: tool, tool: look }, { type: tool, tool: write } ] }`;
    const rig = new LoopRig({
      tools,
      trees: [skill('three', yaml, { constraints: { guard: { max_tool_calls: 2 } } })],
      turns: [{ calls: [['look', {}], bt('three')] }, { calls: [['write', {}]] }, 'done'],
    });
    const run = await rig.run();
    expect([...rig.handledTools.values()]).toEqual(['look', 'look', 'look', 'write']);
    expect(JSON.stringify(rig.prompts[1]?.messages)).toContain('GUARD_DENIED');
    expect(run.frames[0]?.toolCalls).toBe(5);
  });

  it('is held to the timeout that it declares', async () => {
    const yaml = `root: { type: sequence, children: [ { type: tool, tool: slow }, { type: tool, tool: write } ] }`;
    const rig: LoopRig = new LoopRig({
      tools: [
        ...tools,
        {
          definition: { name: 'slow' },
          handle: () => {
            rig.clock.advance(2_000);
            return 'at last';
          },
        },
      ],
      trees: [skill('quick', yaml, { constraints: { timeout: 1_000 } })],
      turns: [{ calls: [['slow', {}], bt('quick')] }, 'done'],
    });
    const run = await rig.run();
    expect([...rig.handledTools.values()]).toEqual(['slow', 'slow']);
    expect(run).toMatchObject({ status: 'succeeded', answer: 'done' });
    expect(JSON.stringify(rig.prompts[1]?.messages)).toContain('RESOURCE_EXHAUSTED');
  });
});

const FOLDERS = {
  'skills/careful/SKILL.md': `---
name: careful
description: With care.
requires: [calm]
constraints:
  guard: { tool_policy: { write: deny } }
---
Be careful.
`,
  'skills/calm/SKILL.md': `---
name: calm
description: Calm.
constraints:
  guard: { tool_policy: { look: deny } }
---
Be calm.
`,
};

describe('an agent node', () => {
  const yaml = (more: string) => `root: { type: agent, task: "Help", output_key: skill_result, ${more} }`;
  const tried = async (more: string, config: RigOptions['config'] = {}) => {
    const rig = new LoopRig({
      tools,
      config,
      skills: loadFrom(givenFiles(FOLDERS), { tools: tools.map(({ definition: { name } }) => ({ name, aliases: [] })) }).catalogue,
      trees: [skill('helping', yaml(more))],
      turns: talk(
        'Help',
        (turn) =>
          turn === 0
            ? {
                calls: [
                  ['write', {}],
                  ['look', {}],
                ],
              }
            : 'helped',
        [{ calls: [bt('helping')] }, 'done'],
      ),
    });
    const run = await rig.run();
    return { rig, run, ran: [...rig.handledTools.values()] };
  };

  it('is held to the constraints of the agent it names', async () => {
    const agents = { default: {}, helper: { on_deny: 'call', constraints: { guard: { tool_policy: { write: 'deny' } } } } } as const;
    expect((await tried('agent: helper', { agents })).ran).toEqual(['look']);
  });

  it('is held to the constraints of its skills and of those that they require', async () => {
    expect((await tried('skills: [careful]')).ran).toEqual([]);
  });

  it('makes no call any more once its own budget is spent', async () => {
    const { run, ran } = await tried('constraints: { guard: { budget: { total_tokens: 10 } } }');
    expect(ran).toEqual([]);
    expect(run).toMatchObject({ status: 'succeeded', answer: 'done' });
  });

  it('has the skills of the agent it names', async () => {
    const { rig, ran } = await tried('agent: helper', { agents: { default: {}, helper: { skills: ['careful'] } } });
    expect(ran).toEqual([]);
    expect(rig.prompts.find((prompt) => lastUser(prompt) === 'Help')?.system).toContain('Be careful.');
  });

  it('fails with a reason when a skill is not there', async () => {
    const { rig, run } = await tried('skills: [gone]');
    expect(run.status).toBe('succeeded');
    expect(JSON.stringify(rig.prompts.at(-1)?.messages)).toContain('there is no skill');
  });
});

describe('an approval that covers a node', () => {
  const yaml = 'root: { type: approval, child: { type: tool, tool: write } }';
  const covered = async (config: RigOptions['config'], live: GuardConstraints | undefined) => {
    const rig = new LoopRig({ tools, config: config ?? {}, trees: [skill('asked', yaml)], turns: [{ calls: [bt('asked')] }, 'done'] });
    const { runId } = await rig.run();
    const [first = ''] = await rig.pending(runId);
    if (live) await setPolicy(rig, live);
    await rig.decide([{ approvalId: first, decision: 'approve' }]);
    await rig.settle(runId);
    return { rig, again: await rig.pending(runId) };
  };
  const confirm = { tool_policy: { write: 'confirm' } } as const;

  it('stands for the confirm that was in force when it was asked', async () => {
    const { rig, again } = await covered({ constraints: { guard: confirm } }, undefined);
    expect(again).toEqual([]);
    expect(rig.handled.size).toBe(1);
  });

  it('stands for that one still when a policy that asks no more has come since', async () => {
    expect((await covered({ constraints: { guard: confirm } }, { tool_policy: { look: 'deny' } })).again).toEqual([]);
  });

  it('does not stand for one that came later', async () => {
    const { rig, again } = await covered({}, confirm);
    expect(again).toHaveLength(1);
    expect(rig.handled.size).toBe(0);
  });
});

describe('a tree that was the root of an earlier run', () => {
  it('shows no LLM what people said to its nodes', async () => {
    const yaml = 'root: { type: approval, child: { type: tool, tool: look } }';
    const rig = new LoopRig({ tools, trees: [skill('asked', yaml)], turns: ['hello'] });
    const { runId } = await rig.run('do it', { sessionId: 's1', tree: { skill: 'asked', inputs: {} } });
    const [approvalId = ''] = await rig.pending(runId);
    await rig.decide([{ approvalId, decision: 'approve' }]);
    await rig.settle(runId);
    await rig.run('and now?', { sessionId: 's1' });
    const shown = JSON.stringify(rig.prompts[0]?.messages);
    expect(shown).toContain('look ok');
    expect(shown).not.toContain('approve_node');
  });
});
