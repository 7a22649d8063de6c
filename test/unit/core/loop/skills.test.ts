import { describe, expect, it } from 'vitest';
import type { ConfigInput } from '../../../../lib/core/config.ts';
import { changePolicy } from '../../../../lib/core/guard/change-policy.ts';
import type { PlacedMessage } from '../../../../lib/core/loop/message.ts';
import type { SkillCatalogue } from '../../../../lib/core/skills/skill.ts';
import { parseTree } from '../../../../lib/core/trees/tree.ts';
import { LoopRig, type RigOptions, type RigTool } from '../../../support/loop-rig.ts';
import { givenFiles, loadFrom } from '../../../support/skill-folders.ts';

const SKILLS = {
  'skills/style/SKILL.md': `---
name: style
description: How texts are written here.
allowed-tools: read_file
---
Write short sentences.
`,
  'skills/strict/SKILL.md': `---
name: strict
description: Few calls.
constraints:
  guard:
    max_tool_calls: 3
---
Mind the number of calls.
`,
  'skills/style/references/words.md': 'Say "use", not "utilize".',
  'skills/style/references/long.md': 'line\n'.repeat(11_000),
  'skills/report/SKILL.md': `---
name: report
description: How reports are made.
constraints:
  guard:
    tool_policy:
      file_write: confirm
---
Count first, write then.
`,
  'skills/reverse/SKILL.md': `---
name: reverse
description: Turns a text round.
parameters:
  text: { type: string, required: true }
---
Call it with the text.
`,
  'skills/reverse/handler.js': 'export default (args) => [...args.text].reverse().join("");\n',
};
const OFFLINE = `---
name: offline
description: Works without the network, and quickly.
constraints:
  execution: { mode: local, network: none, timeout_s: 2 }
---
Look nothing up.
`;
const FETCHER = `---
name: fetcher
description: Fetches.
permissions:
  network: { allowed_domains: [api.example.com] }
---
`;
const skills: SkillCatalogue = loadFrom(givenFiles(SKILLS)).catalogue;

const TOOLS: readonly RigTool[] = [{ definition: { name: 'read_file' } }, { definition: { name: 'write_file', aliases: ['file_write'] } }];
const rigWith = (turns: NonNullable<RigOptions['turns']>, config: ConfigInput = {}): LoopRig =>
  new LoopRig({ turns, config, skills, tools: TOOLS });

/** What the LLM was told of the call at this place of the transcript's observations. */
const observations = (messages: readonly PlacedMessage[]): { text: string; code: string | undefined }[] =>
  messages.flatMap(({ message }) =>
    message.role === 'observation'
      ? [{ text: message.result.data ?? message.result.error?.message ?? '', code: message.result.error?.code }]
      : [],
  );
const toolNames = (rig: LoopRig, prompt: number): string[] => rig.prompts[prompt]?.tools.map(({ name }) => name) ?? [];

describe('chosen skills', () => {
  it('of the agent and of the request stand in the system prompt, the rest by name and description', async () => {
    const rig = rigWith(['done'], { agents: { default: { skills: ['report'], system: 'You write.' } } });
    await rig.run('go', { skills: ['reverse'] });
    const system = rig.prompts[0]?.system ?? '';
    expect(system).toMatch(/^You write\.\n\n# Skill: report\n\nCount first, write then\.\n\n# Skill: reverse\n\nCall it with the text\./);
    expect(system).toContain('- style: How texts are written here.');
    expect(system).not.toContain('Write short sentences.');
  });

  it('narrow the tools to what they allow, but for what touches nothing', async () => {
    const rig = rigWith(['done', 'done']);
    await rig.run('go');
    await rig.run('go', { skills: ['style'] });
    expect(toolNames(rig, 0)).toEqual(expect.arrayContaining(['read_file', 'write_file', 'reverse', 'load_skill']));
    expect(toolNames(rig, 1)).toEqual(expect.arrayContaining(['read_file', 'load_skill', 'ask_user']));
    expect(toolNames(rig, 1)).not.toEqual(expect.arrayContaining(['write_file']));
    expect(toolNames(rig, 1)).not.toEqual(expect.arrayContaining(['reverse']));
  });

  it('are a layer of the constraints of the run, shown as such', async () => {
    const rig = rigWith(['done']);
    const run = await rig.run('go', { skills: ['strict', 'report'] });
    expect(run.constraints.guard.max_tool_calls).toBe(3);
    expect(run.constraints.origins['guard.max_tool_calls']).toBe('skill');
    expect(run.constraints.guard.tool_policy).toEqual([{ layer: 'skill', rules: { file_write: ['confirm'] } }]);
  });

  it('that do not exist are refused at the start', async () => {
    await expect(rigWith(['done']).run('go', { skills: ['nothing'] })).rejects.toMatchObject({ code: 'BAD_REQUEST', field: 'skills' });
  });
});

describe('constraints.execution of a skill', () => {
  const offline: SkillCatalogue = loadFrom(givenFiles({ ...SKILLS, 'skills/offline/SKILL.md': OFFLINE })).catalogue;
  const rigOf = (turns: NonNullable<RigOptions['turns']>) => {
    const given: [string, number][] = [];
    const tool = (name: string, effectTags: string[], timeoutMs: number): RigTool => ({
      definition: { name, effectTags, timeoutMs },
      handle: (_args, context) => {
        given.push([name, context.timeoutMs]);
        return 'ok';
      },
    });
    const tools = [tool('fetch', ['net.read'], 20_000), tool('slow', ['fs.read'], 30_000), tool('quick', ['fs.read'], 1_000)];
    const tree = parseTree({ root: { type: 'tool', tool: 'fetch' } }, 'tree.yaml', () => undefined);
    const none = { inputs: undefined, outputs: undefined, constraints: undefined };
    const treeSkill = { name: 'procedure', description: 'Fetches.', tree, resultKey: 'r', ...none };
    return { rig: new LoopRig({ turns, skills: offline, tools, trees: [treeSkill] }), given };
  };

  it('narrows the time of every call and takes the network away: hidden from the LLM, denied to a tree', async () => {
    const calls = [
      ['slow', {}],
      ['quick', {}],
      ['run_bt_skill', { skill: 'procedure' }],
    ] as const;
    const { rig, given } = rigOf([{ calls }, 'done']);
    const run = await rig.run('go', { skills: ['offline'] });
    expect(run.constraints.execution).toEqual({ network: false, timeout_s: 2 });
    expect(toolNames(rig, 0)).toEqual(expect.arrayContaining(['slow', 'quick']));
    expect(toolNames(rig, 0)).not.toContain('fetch');
    expect(given).toEqual([
      ['slow', 2_000],
      ['quick', 1_000],
    ]);
    expect(observations(await rig.transcript(run)).at(-1)?.text).toContain('execution.network is none (skill): fetch reaches the network');
  });

  it('holds from the load on where it is loaded, and only tightens', async () => {
    const { rig, given } = rigOf([
      { calls: [['slow', {}]] },
      { calls: [['load_skill', { skill: 'offline' }]] },
      { calls: [['slow', {}]] },
      'done',
    ]);
    const run = await rig.run('go', { constraints: { execution: { timeout_s: 5 } } });
    expect(given).toEqual([
      ['slow', 5_000],
      ['slow', 2_000],
    ]);
    expect(toolNames(rig, 0)).toContain('fetch');
    expect(toolNames(rig, 2)).not.toContain('fetch');
    expect(run.frames[0]?.constraints).toMatchObject({
      execution: { network: false, timeout_s: 2 },
      origins: { 'execution.network': 'skill', 'execution.timeout_s': 'skill' },
    });
  });
});

describe('load_skill', () => {
  it('is answered in the commit that carries its call: no Lambda, no permit, one more pass', async () => {
    const rig = rigWith([{ calls: [['load_skill', { skill: 'report' }]] }, 'done']);
    const run = await rig.run();
    expect(run).toMatchObject({ status: 'succeeded', step: 2 });
    expect(rig.states).toEqual(['Reason', 'Route', 'Reason', 'Route', 'Finish']);
    expect(observations(await rig.transcript(run))).toEqual([
      { text: expect.stringContaining('Count first, write then.'), code: undefined },
    ]);
  });

  it('is answered at once although a person must decide about another call of its batch', async () => {
    const rig = rigWith(
      [
        {
          calls: [
            ['load_skill', { skill: 'report' }],
            ['write_file', { path: 'a' }],
          ],
        },
        'done',
      ],
      { constraints: { guard: { tool_policy: { write_file: 'confirm' } } } },
    );
    const { runId } = await rig.start();
    const waiting = await rig.settle(runId);
    expect(waiting).toMatchObject({ status: 'waiting', step: 1 });
    expect(observations(await rig.transcript(waiting))).toHaveLength(1);
    const [approvalId = ''] = await rig.pending(runId);
    await rig.decide([{ approvalId, decision: 'approve' }]);
    expect(observations(await rig.transcript(await rig.settle(runId)))).toHaveLength(2);
  });

  it('brings in files one by one, and nothing that is no file of the skill', async () => {
    const rig = rigWith([
      { calls: [['load_skill', { skill: 'style', file: './references/words.md' }]] },
      {
        calls: ['../report/SKILL.md', '/etc/passwd', 'references', 'SKILL.md', '__proto__'].map(
          (file) => ['load_skill', { skill: 'style', file }] as const,
        ),
      },
      {
        calls: [
          ['load_skill', { skill: 'reverse', file: 'handler.js' }],
          ['load_skill', { skill: 'constructor' }],
        ],
      },
      'done',
    ]);
    const seen = observations(await rig.transcript(await rig.run()));
    expect(seen[0]?.text).toContain('Say "use", not "utilize".');
    expect(seen.slice(1, 6).map(({ code }) => code)).toEqual(Array(5).fill('FILE_NOT_FOUND'));
    expect(seen[1]?.text).toContain('references/long.md, references/words.md');
    expect(seen.slice(6).map(({ code }) => code)).toEqual(['FILE_NOT_FOUND', 'INVALID_ARGUMENTS']);
    expect(seen[7]?.text).toContain('there is no skill "constructor"; there are: report, reverse, strict, style');
  });

  it('gives long texts in pages that meet without a gap', async () => {
    let offset = 0;
    let text = '';
    const rig = rigWith((_request, turn) => {
      const answer = _request.messages.at(-1);
      const page = turn > 0 && answer?.role === 'tool' ? (answer.results[0]?.text ?? '') : '';
      const next = /\((\d+) of 55000 characters; go on with offset \d+\)$/.exec(page);
      text += page.replace(/^style\/references\/long\.md\n\n/, '').replace(/\n\n\(\d+ of .*$/, '');
      offset = Number(next?.[1] ?? 0);
      return turn === 0 || next ? { calls: [['load_skill', { skill: 'style', file: 'references/long.md', offset }]] } : 'done';
    });
    expect((await rig.run()).status).toBe('succeeded');
    expect(text.trimEnd()).toBe('line\n'.repeat(11_000).trimEnd());
  });

  it('holds the run to the constraints of what it brought in', async () => {
    const rig = rigWith([{ calls: [['load_skill', { skill: 'report' }]] }, { calls: [['write_file', { path: 'a' }]] }, 'done']);
    const { runId } = await rig.start();
    const run = await rig.settle(runId);
    expect(run.status).toBe('waiting');
    expect(await rig.pending(runId)).toHaveLength(1);
    expect(rig.handled.size).toBe(0);
  });

  it('counts the calls of the whole run against a limit that it brought in', async () => {
    const rig = rigWith((_request, turn) => {
      if (turn === 0) return { calls: [['read_file', {}]] };
      if (turn === 1) return { calls: [['load_skill', { skill: 'strict' }]] };
      return turn < 4 ? { calls: [['read_file', { turn }]] } : 'done';
    });
    const codes = observations(await rig.transcript(await rig.run())).map(({ code }) => code);
    expect(codes).toEqual([undefined, undefined, undefined, 'GUARD_DENIED']);
  });

  it('is hidden where there is nothing to load, and where policy denies it', async () => {
    const none = new LoopRig({ turns: ['done'], tools: TOOLS });
    await none.run();
    expect(toolNames(none, 0)).not.toContain('load_skill');
    const denied = rigWith(['done'], { constraints: { guard: { tool_policy: { load_skill: 'deny' } } } });
    await denied.run();
    expect(toolNames(denied, 0)).not.toContain('load_skill');
    expect(denied.prompts[0]?.system).not.toContain('How texts are written here.');
  });

  it('is a loop when it keeps asking for the same', async () => {
    const rig = rigWith(() => ({ calls: [['load_skill', { skill: 'style' }]] }));
    expect(await rig.run()).toMatchObject({ status: 'limited', outcome: 'loop' });
  });
});

describe('a handler skill', () => {
  it('is dispatched to a function of its own', async () => {
    const names: string[] = [];
    const rig = rigWith([{ calls: [['reverse', { text: 'abc' }]] }, 'done']);
    Object.assign(rig.deps, {
      functionName: (category: string, tool: string) => {
        names.push(`${category}/${tool}`);
        return 'f';
      },
    });
    await rig.run();
    expect(new Set(names)).toEqual(new Set(['skill/reverse']));
  });

  it('is refused at its next call once a policy is tightened, within its batch too', async () => {
    let calls = 0;
    const rig: LoopRig = new LoopRig({
      turns: [
        {
          calls: [
            ['reverse', { text: 'ab' }],
            ['reverse', { text: 'cd' }],
          ],
        },
        'done',
      ],
      skills,
      tools: TOOLS,
      skillHandlers: new Map([
        [
          'reverse',
          async () => {
            calls += 1;
            await changePolicy(
              { guard: rig.stores.guard, clock: rig.clock, operatorTenant: undefined },
              { tenant: 't1', principal: 'ops', scope: 'tenant', version: 0, guard: { tool_policy: { reverse: 'deny' } } },
            );
            return { text: 'ba' };
          },
        ],
      ]),
    });
    const run = await rig.run();
    expect(observations(await rig.transcript(run)).map(({ code }) => code)).toEqual([undefined, 'GUARD_DENIED']);
    expect(calls).toBe(1);
    expect(toolNames(rig, 1)).not.toContain('reverse');
  });

  it('wider than a tightened security is gone at the next start, and a call for it is answered', async () => {
    const files = { 'skills/fetcher/SKILL.md': FETCHER, 'skills/fetcher/handler.js': 'export default () => 1;\n' };
    const root = givenFiles(files);
    expect(loadFrom(root).catalogue.skills).toHaveLength(1);
    const tight = loadFrom(root, { security: { network: { allowedDomains: ['other.example.com'] } } }).catalogue;
    expect(tight.reports).toEqual([expect.objectContaining({ name: 'fetcher', status: 'rejected' })]);
    const rig = new LoopRig({ turns: [{ calls: [['fetcher', {}]] }, 'done'], skills: tight, tools: TOOLS });
    expect(observations(await rig.transcript(await rig.run()))).toEqual([{ text: expect.anything(), code: 'TOOL_NOT_FOUND' }]);
  });
});
