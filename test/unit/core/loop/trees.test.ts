import { describe, expect, it } from 'vitest';
import { LoopRig, type RigOptions } from '../../../support/loop-rig.ts';
import { treeSkill as skill } from '../../../support/tree-skill.ts';

const ask = (name: string, inputs = {}) => ({ calls: [['run_bt_skill', { skill: name, inputs }]] as const });
const tools: RigOptions['tools'] = [
  { definition: { name: 'look' }, handle: (args) => JSON.stringify({ seen: args['at'] ?? null }) },
  { definition: { name: 'write' } },
  {
    definition: { name: 'broken' },
    handle: () => {
      throw new Error('it always fails');
    },
  },
];

const TWO_LOOKS = `
root:
  type: sequence
  children:
    - { type: set, key: place, value: { at: 7 } }
    - type: parallel
      success: all
      children:
        - { type: tool, tool: look, input_key: place, output_key: first }
        - { type: tool, tool: look, output_key: second }
    - { type: set, key: skill_result, value: "{{first}}" }
`;

describe('a tree as a frame', () => {
  it('answers the call that pushed it; its ready tool nodes are one stage', async () => {
    const rig = new LoopRig({ tools, trees: [skill('inspect', TWO_LOOKS)], turns: [ask('inspect'), 'Inspected.'] });
    const run = await rig.run();
    expect(run).toMatchObject({ status: 'succeeded', answer: 'Inspected.', frames: [{ kind: 'agent' }] });
    expect(rig.states.filter((state) => state === 'Act')).toHaveLength(1);
    expect(rig.states.filter((state) => state === 'Invoke')).toHaveLength(2);
    const observed = (await rig.transcript(run)).flatMap(({ message }) => (message.role === 'observation' ? [message] : []));
    expect(observed).toHaveLength(1);
    expect(observed[0]).toMatchObject({ tool: 'run_bt_skill', result: { success: true } });
    expect(observed[0]?.result.data).toContain('"seen": 7');
  });

  it('takes 4 transitions for a tool node and none for control nodes', async () => {
    const yaml =
      'root: { type: sequence, children: [ { type: tool, tool: look }, { type: inverter, child: { type: tool, tool: broken } }, { type: tool, tool: look } ] }';
    const rig = new LoopRig({ tools, trees: [skill('three', yaml)], turns: [ask('three'), 'Done.'] });
    await rig.run();
    // One pass that asks the LLM, then Reason, Route, Act, Invoke for each of the three nodes.
    expect(rig.states.indexOf('Finish')).toBe(3 * 4 + 2);
  });

  it('fails with the path of the node that failed', async () => {
    const rig = new LoopRig({
      tools,
      trees: [skill('bad', 'root: { type: sequence, children: [ { type: tool, tool: broken, name: step1 } ] }')],
      turns: [ask('bad'), 'It failed.'],
    });
    const run = await rig.run();
    expect(run).toMatchObject({ status: 'succeeded' });
    expect(JSON.stringify(rig.prompts[1]?.messages)).toContain('step1');
  });

  it('stops in the middle for a person and goes on where it was', async () => {
    const yaml = `
root:
  type: sequence
  children:
    - { type: tool, tool: look, output_key: found }
    - type: approval
      phase: before
      title: Publish?
      child: { type: tool, tool: write, output_key: skill_result }
`;
    for (const decision of ['approve', 'reject'] as const) {
      const rig = new LoopRig({
        tools,
        config: { constraints: { guard: { tool_policy: { write: 'confirm' } } } },
        trees: [skill('publish', yaml)],
        turns: [ask('publish'), 'Done.'],
      });
      const waiting = await rig.run();
      expect(waiting).toMatchObject({ status: 'waiting' });
      const [approvalId = ''] = await rig.pending(waiting.runId);
      await rig.decide([{ approvalId, decision }]);
      const run = await rig.settle(waiting.runId);
      // The approval over the node stands for the tool policy's confirm: nobody is asked twice.
      expect(run).toMatchObject({ status: 'succeeded', answer: 'Done.' });
      const written = run.effects;
      expect(written).toEqual({});
      expect([...rig.handled.keys()]).toHaveLength(decision === 'approve' ? 2 : 1);
    }
  });

  it('asks an LLM once per step and checks its JSON', async () => {
    const yaml = `
root:
  type: sequence
  children:
    - { type: llm, prompt: "Rate {{thing}}", output_key: rating, schema: { type: object, properties: { stars: { type: integer } }, required: [stars] } }
    - { type: condition, key: rating, exists: true }
    - { type: set, key: skill_result, value: "{{rating}}" }
`;
    const inputs = { type: 'object', properties: { thing: { type: 'string', default: 'tea' } }, additionalProperties: false };
    const rig = new LoopRig({
      tools,
      trees: [skill('rate', yaml, { inputs })],
      turns: (request, turn) => (request.system.includes('JSON Schema') ? '{"stars": 4}' : turn === 0 ? ask('rate') : 'Rated.'),
    });
    const run = await rig.run();
    expect(run).toMatchObject({ status: 'succeeded', answer: 'Rated.' });
    expect(JSON.stringify(rig.prompts[1]?.messages)).toContain('Rate tea');
    expect(JSON.stringify(rig.prompts[2]?.messages)).toContain('stars');
    expect(run.frames[0]).toMatchObject({ iterations: 3 });
  });

  it('runs an agent node in a frame of its own, with its own limits and the talk so far', async () => {
    const yaml =
      'root: { type: agent, task: "Find the answer to {{question}}", history_limit: 5, output_key: skill_result, constraints: { max_iterations: 3 } }';
    const rig = new LoopRig({
      tools,
      trees: [skill('research', yaml)],
      turns: (request, turn) => {
        const last = request.messages.findLast((message) => message.role === 'user');
        if (last?.role === 'user' && last.text.startsWith('Find')) return turn === 0 ? { calls: [['look', { at: 1 }]] } : 'It is 42.';
        return turn === 0 ? ask('research', { question: 'life' }) : 'The answer is 42.';
      },
    });
    const run = await rig.run('What is it?');
    expect(run).toMatchObject({ status: 'succeeded', answer: 'The answer is 42.' });
    expect(JSON.stringify(rig.prompts[1]?.messages)).toContain('User: What is it?');
    expect(JSON.stringify(rig.prompts.at(-1)?.messages)).toContain('It is 42.');
  });

  it('ends the child that reaches its limit, not the run', async () => {
    const yaml = 'root: { type: agent, task: "Look around", output_key: skill_result, constraints: { max_iterations: 2 } }';
    let n = 0;
    const rig = new LoopRig({
      tools,
      trees: [skill('wander', yaml)],
      turns: (request, turn) => {
        const last = request.messages.findLast((message) => message.role === 'user');
        if (last?.role === 'user' && last.text === 'Look around') return { calls: [['look', { at: n++ }]] };
        return turn === 0 ? ask('wander') : 'It wandered off.';
      },
    });
    const run = await rig.run();
    expect(run).toMatchObject({ status: 'succeeded', answer: 'It wandered off.' });
    expect(JSON.stringify(rig.prompts.at(-1)?.messages)).toContain('reached its limit');
  });

  it('keeps large values out of the run item', async () => {
    const yaml =
      'root: { type: sequence, children: [ { type: tool, tool: big, output_key: text }, { type: tool, tool: look }, { type: set, key: skill_result, value: "{{text}}" } ] }';
    const rig = new LoopRig({
      tools: [...(tools ?? []), { definition: { name: 'big' }, handle: () => 'x'.repeat(20_000) }],
      trees: [skill('large', yaml)],
      turns: [ask('large'), 'Done.'],
    });
    const run = await rig.run();
    expect(run).toMatchObject({ status: 'succeeded' });
    expect(JSON.stringify(rig.prompts[1]?.messages)).toContain('x'.repeat(20_000));
  });

  it('refuses inputs that do not fit', async () => {
    const inputs = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'], additionalProperties: false };
    const rig = new LoopRig({ tools, trees: [skill('count', TWO_LOOKS, { inputs })], turns: [ask('count', { m: 1 }), 'No.'] });
    await rig.run();
    expect(JSON.stringify(rig.prompts[1]?.messages)).toContain('INVALID_ARGUMENTS');
  });

  it('waits out the delay of a retry', async () => {
    let tries = 0;
    const flaky = {
      definition: { name: 'flaky' },
      handle: () => {
        if (tries++ < 2) throw new Error('not yet');
        return 'ok';
      },
    };
    const yaml = 'root: { type: retry, attempts: 3, delay_s: 2, child: { type: tool, tool: flaky, output_key: skill_result } }';
    const rig = new LoopRig({ tools: [flaky], trees: [skill('again', yaml)], turns: [ask('again'), 'Done.'] });
    expect(await rig.run()).toMatchObject({ status: 'succeeded' });
    expect(rig.states.filter((state) => state === 'Wait')).toHaveLength(2);
    expect(tries).toBe(3);
  });
});

describe('a tree as the root of a run', () => {
  const inputs = { type: 'object', properties: { place: { type: 'string', default: 'home' } }, additionalProperties: false };
  const yaml =
    'root: { type: sequence, children: [ { type: tool, tool: look }, { type: set, key: skill_result, value: { at: "{{place}}" } } ] }';

  it('runs without an LLM and answers with its result', async () => {
    const rig = new LoopRig({ tools, trees: [skill('visit', yaml, { inputs })], turns: [] });
    const run = await rig.run('visit', { tree: { skill: 'visit', inputs: { place: 'away' } } });
    expect(run).toMatchObject({ status: 'succeeded', outcome: 'completed' });
    expect(JSON.parse(run.answer ?? '')).toEqual({ at: 'away' });
    expect(rig.prompts).toHaveLength(0);
  });

  it('is refused for inputs that do not fit and for a skill that is not there', async () => {
    const rig = new LoopRig({ tools, trees: [skill('visit', yaml, { inputs })] });
    await expect(rig.start('visit', { tree: { skill: 'visit', inputs: { plac: 1 } } })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENTS',
    });
    await expect(rig.start('visit', { tree: { skill: 'other', inputs: {} } })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});
