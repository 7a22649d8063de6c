import { describe, expect, it } from 'vitest';
import { reportLines } from '../../../../lib/core/skills/skill.ts';
import { givenFiles, loadFrom, loadOne } from '../../../support/skill-folders.ts';

const HEAD = 'description: Does one thing well.';
const skillText = (name: string, more = ''): string => `---\nname: ${name}\n${HEAD}\n${more}---\nBody of ${name}.\n`;
const HANDLER = { 'handler.js': 'export default () => 1;\n' };
const TOOL = 'parameters: {}\n';

describe('a prompt skill', () => {
  it('is one that declares nothing of a tool or a tree; files and body come along', () => {
    const { catalogue, report } = loadOne('style', skillText('style', 'license: MIT\nallowed-tools: Read Bash(git:*)\n'), {
      'references/words.md': 'words',
      'scripts/run.py': 'print(1)',
    });
    expect(report).toMatchObject({ status: 'accepted', name: 'style' });
    expect(catalogue.skills).toEqual([
      expect.objectContaining({
        kind: 'prompt',
        name: 'style',
        body: 'Body of style.',
        license: 'MIT',
        allowedTools: ['read_file', 'execute_shell'],
        files: [
          { path: 'references/words.md', bytes: 5, text: 'words' },
          { path: 'scripts/run.py', bytes: 8, text: 'print(1)' },
        ],
      }),
    ]);
  });

  it('whose folder holds a handler that nothing declares is told so', () => {
    expect(loadOne('style', skillText('style'), HANDLER).warned).toEqual([expect.stringContaining('declare "parameters"')]);
  });
});

describe('a handler skill', () => {
  it("is the seed's example, word for word", () => {
    const text = `---
name: web_scraper
description: 抓取网页内容并提取结构化信息
parameters:
  url:
    type: string
    description: 目标网页 URL
    required: true
  extract_type:
    type: string
    description: 提取方式 (markdown / text / structured)
    enum: [markdown, text, structured]
    default: markdown
permissions:
  network:
    allowed_domains:
      - "docs.openclaw.ai"
      - "*.example.com"
timeout: 30000
max_concurrency: 3
---

# Web Scraper Skill
`;
    const { catalogue, report } = loadOne('web_scraper', text, HANDLER);
    expect(report.problems).toEqual([]);
    expect(catalogue.skills).toEqual([
      expect.objectContaining({
        kind: 'handler',
        handler: 'handler.js',
        tool: expect.objectContaining({
          name: 'web_scraper',
          category: 'skill',
          parameters: {
            type: 'object',
            properties: {
              url: { type: 'string', description: '目标网页 URL' },
              extract_type: expect.objectContaining({ enum: ['markdown', 'text', 'structured'], default: 'markdown' }),
            },
            required: ['url'],
          },
          permissions: { network: { allowedDomains: ['docs.openclaw.ai', '*.example.com'] } },
          timeoutMs: 30_000,
          maxConcurrency: 3,
          effectTags: ['net.read'],
          untrusted: true,
          idempotent: false,
        }),
      }),
    ]);
  });

  it('is called by its name with _ for -, and refuses the name of another tool', () => {
    expect(loadOne('my-tool', skillText('my-tool', TOOL), HANDLER).catalogue.skills[0]).toMatchObject({ tool: { name: 'my_tool' } });
    expect(loadOne('read-file', skillText('read-file', TOOL), HANDLER).reasons).toEqual([
      expect.stringContaining('"read_file", like a built-in one'),
    ]);
    expect(loadOne('file-read', skillText('file-read', TOOL), HANDLER).reasons).toEqual([expect.stringContaining('"file_read"')]);
  });

  it('without code is rejected, and so is one whose code lies elsewhere', () => {
    expect(loadOne('x', skillText('x', TOOL)).reasons).toEqual([expect.stringContaining('no handler.ts or handler.js')]);
    expect(loadOne('x', skillText('x', 'handler: ../y/handler.js\n')).reasons).toEqual([expect.stringMatching(/^4: handler: .*leads out/)]);
  });

  it('that asks for network and files is rejected, unless the operator trusts it by name', () => {
    const both = 'permissions:\n  network: { allowed_domains: [api.example.com] }\n  filesystem: { read: ["data/**"] }\n';
    expect(loadOne('x', skillText('x', both), HANDLER).reasons).toEqual([
      expect.stringMatching(/^6: permissions.filesystem: .*skills.trusted/),
    ]);
    expect(loadOne('x', skillText('x', both), HANDLER, { trusted: new Set(['y']) }).report.status).toBe('rejected');
    expect(loadOne('x', skillText('x', both), HANDLER, { trusted: new Set(['x']) }).report.status).toBe('accepted');
  });

  it.each([
    ['filesystem: { write: ["/**"] }', 'absolute path'],
    ['filesystem: { read: ["~/.ssh/*"] }', 'home directory'],
    ['filesystem: { read: ["a/../../b"] }', 'leaves the workspace'],
    ['filesystem: { read: ["!a"] }', 'what not to touch'],
    ['network: { allowed_domains: ["*"] }', 'every host'],
    ['network: { allowed_domains: ["*.com"] }', 'every host'],
    ['network: { allowed_domains: ["https://a.example.com"] }', 'not a host name'],
    ['network: { allowed_domains: ["169.254.169.254"] }', 'not a host name'],
    ['network: { allowed_domains: ["db.internal"] }', 'private network'],
    ['network: { allowed_domains: [a.example.com], allowed_ports: [0] }', 'not a port'],
    ['execution: { allowed_commands: [ls] }', 'runs no commands'],
    ['everything: true', 'no such permission'],
  ])('may not ask for %s', (permission, reason) => {
    const { reasons } = loadOne('x', skillText('x', `permissions:\n  ${permission}\n`), HANDLER);
    expect(reasons).toEqual([expect.stringContaining(reason)]);
  });

  it('is held to the security of the deployment', () => {
    const text = skillText('x', 'permissions:\n  filesystem: { write: ["out/*.csv"] }\n');
    expect(loadOne('x', text, HANDLER).report.status).toBe('accepted');
    const tight = { filesystem: { read: ['**'], write: ['reports/**'] } };
    expect(loadOne('x', text, HANDLER, { security: tight }).reasons).toEqual([
      expect.stringMatching(/^5: permissions.filesystem.write: .*filesystem.write: "out\/\*.csv"/),
    ]);
  });

  it('counts its timeout in milliseconds, and asks back when that looks like seconds', () => {
    const at = (timeout: string) => loadOne('x', skillText('x', `${TOOL}timeout: ${timeout}\n`), HANDLER);
    expect(loadOne('x', skillText('x', TOOL), HANDLER).catalogue.skills[0]).toMatchObject({ tool: { timeoutMs: 10_000 } });
    expect(at('30000').warned).toEqual([]);
    expect(at('30').warned).toEqual([expect.stringContaining('milliseconds?')]);
    expect(at('30').catalogue.skills[0]).toMatchObject({ tool: { timeoutMs: 1_000 } });
    expect(at('900000').catalogue.skills[0]).toMatchObject({ tool: { timeoutMs: 120_000 } });
    for (const wrong of ['-1', '0', '1.5', '"30"', '[30]', 'true'])
      expect(at(wrong).reasons).toEqual([expect.stringContaining('whole number')]);
  });
});

describe('a tree skill', () => {
  it('brings the text of its tree, its inputs and outputs', () => {
    const { catalogue } = loadOne(
      'check',
      skillText('check', 'execution: bt\ninputs:\n  version: { type: string, required: true }\nskill_result_key: verdict\n'),
      { 'tree.yaml': 'root: {}\n' },
    );
    expect(catalogue.skills).toEqual([
      expect.objectContaining({
        kind: 'tree',
        tree: { file: 'tree.yaml', text: 'root: {}\n', inputs: { version: { type: 'string', required: true } }, resultKey: 'verdict' },
      }),
    ]);
  });

  it('is rejected with what the check of its tree says, where it says it', () => {
    const problem = { file: 'skills/check/tree.yaml', line: 7, reason: 'root: expected a node' };
    const { report } = loadOne(
      'check',
      skillText('check', 'execution: bt\n'),
      { 'tree.yaml': 'root: {}\n' },
      { checkTrees: () => () => ({ problems: [problem], calls: [] }) },
    );
    expect(report).toMatchObject({ status: 'rejected', problems: [problem] });
  });
});

describe('constraints.execution', () => {
  const withExecution = (lines: string) => loadOne('limits', skillText('limits', `constraints:\n  execution:\n${lines}`));

  it('is a layer like the others', () => {
    const { catalogue, report } = withExecution('    mode: local\n    network: none\n    timeout_s: 20\n');
    expect(report.status).toBe('accepted');
    expect(catalogue.skills[0]?.constraints).toEqual({ execution: { mode: 'local', network: 'none', timeout_s: 20 } });
  });

  it('is refused where only a container could fulfil it, with line, reason and what to do', () => {
    const { report, reasons } = withExecution('    mode: docker\n    docker_image: python:3.12\n    network: host\n');
    expect(report.status).toBe('rejected');
    expect(reasons).toEqual([
      expect.stringMatching(/^6: constraints\.execution\.mode: there are no containers here: .*`mode: local`/),
      expect.stringMatching(/^7: constraints\.execution\.docker_image: there are no containers here/),
      expect.stringMatching(/^8: constraints\.execution\.network: is true, false or none/),
    ]);
    expect(withExecution('    memory: 1\n').reasons).toEqual([
      expect.stringContaining('6: constraints.execution.memory: there is no such constraint'),
    ]);
  });

  it('is accepted with a warning where it looks as if it allowed something', () => {
    const { report, warned } = withExecution('    network: true\n    timeout_s: 600\n');
    expect(report.status).toBe('accepted_with_warnings');
    expect(warned).toEqual([
      expect.stringContaining('6: constraints.execution.network: allows nothing'),
      expect.stringContaining('7: constraints.execution.timeout_s'),
    ]);
  });
});

describe('skills together', () => {
  it('go on when one of them is bad, however bad', () => {
    const root = givenFiles({
      'skills/a-bomb/SKILL.md': `---\na: ${'['.repeat(8_000)}\n---\n`,
      'skills/b-binary/SKILL.md': new Uint8Array([0xff, 0xfe, 0]),
      'skills/c-good/SKILL.md': skillText('c-good'),
      'skills/d-huge/SKILL.md': `---\nname: d-huge\n${HEAD}\n---\n${'x'.repeat(2_000_000)}`,
      'skills/e-no-skill/README.md': 'not one',
    });
    const { catalogue } = loadFrom(root);
    expect(catalogue.skills.map(({ name }) => name)).toEqual(['c-good']);
    expect(catalogue.reports.map(({ file, status }) => [file, status])).toEqual([
      ['skills/a-bomb/SKILL.md', 'rejected'],
      ['skills/b-binary/SKILL.md', 'rejected'],
      ['skills/c-good/SKILL.md', 'accepted'],
      ['skills/d-huge/SKILL.md', 'rejected'],
    ]);
    for (const { status, problems } of catalogue.reports) expect(problems.length > 0).toBe(status === 'rejected');
  });

  it('give a name to the first that has it', () => {
    const root = givenFiles({ 'one/same/SKILL.md': skillText('same'), 'two/same/SKILL.md': skillText('same') });
    const { catalogue } = loadFrom(root, { directories: ['one', 'two'] });
    expect(catalogue.skills.map(({ file }) => file)).toEqual(['one/same/SKILL.md']);
    expect(catalogue.reports[1]).toMatchObject({
      file: 'two/same/SKILL.md',
      status: 'rejected',
      problems: [{ line: 2, reason: expect.stringContaining('taken by one/same/SKILL.md') }],
    });
  });

  it('may not require themselves by a detour, nor what is not there or was rejected', () => {
    const root = givenFiles({
      'skills/a/SKILL.md': skillText('a', 'requires: [b]\n'),
      'skills/b/SKILL.md': skillText('b', 'requires: [c]\n'),
      'skills/c/SKILL.md': skillText('c', 'requires: [b]\n'),
      'skills/d/SKILL.md': skillText('d', 'requires: [nobody]\n'),
      'skills/e/SKILL.md': skillText('e'),
      'skills/f/SKILL.md': skillText('f', 'requires: [e]\n'),
    });
    const { catalogue } = loadFrom(root);
    expect(catalogue.skills.map(({ name }) => name)).toEqual(['e', 'f']);
    const why = Object.fromEntries(
      catalogue.reports.map(({ name, problems }) => [name, problems.map(({ line, reason }) => `${line}: ${reason}`)]),
    );
    expect(why).toEqual({
      a: ['4: requires: "b" was rejected'],
      b: ['4: requires: leads back to itself: b → c → b'],
      c: ['4: requires: leads back to itself: c → b → c'],
      d: ['4: requires: "nobody" is not there'],
      e: [],
      f: [],
    });
  });

  it('may not constrain a tool that nobody has; one that a rejected skill would be is no slip', () => {
    const policy = (rule: string): string => `constraints:\n  guard:\n    tool_policy:\n      ${rule}\n`;
    const root = givenFiles({
      'skills/a-typo/SKILL.md': skillText('a-typo', policy('wirte_file: deny')),
      'skills/b-glob/SKILL.md': skillText('b-glob', policy('"wb_*": deny')),
      'skills/c-alias/SKILL.md': skillText('c-alias', policy('file_write: deny')),
      'skills/d-off/SKILL.md': skillText('d-off', policy('g_bad: deny')),
      'skills/e-prompt/SKILL.md': skillText('e-prompt', policy('c_alias: deny')),
      'skills/f-list/SKILL.md': skillText('f-list', 'allowed-tools: Read TodoWrite web_serach\n'),
      'skills/g-bad/SKILL.md': skillText('g-bad', TOOL),
    });
    const { catalogue } = loadFrom(root);
    const why = Object.fromEntries(
      catalogue.reports.map(({ name, problems, warnings }) => [
        name,
        [...problems, ...warnings].map(({ line, reason }) => `${line}: ${reason}`),
      ]),
    );
    expect(why).toEqual({
      'a-typo': ['7: constraints.guard.tool_policy.wirte_file: there is no tool "wirte_file"; did you mean "write_file"?'],
      'b-glob': ['7: constraints.guard.tool_policy.wb_*: fits the name of no tool'],
      'c-alias': [],
      'd-off': [],
      'e-prompt': [expect.stringMatching(/^7: .*there is no tool "c_alias"; expected one of read_file, write_file, list_directory/)],
      'f-list': [
        expect.stringMatching(/^4: allowed-tools: there is no tool "TodoWrite"; expected/),
        '4: allowed-tools: there is no tool "web_serach"; did you mean "web_search"?',
      ],
      'g-bad': [expect.stringContaining('handler')],
    });
    expect(catalogue.skills.map(({ name }) => name)).toEqual(['c-alias', 'd-off', 'f-list']);
  });
});

describe('what is wrong in nested front matter is told of with its place and what it may be', () => {
  it.each([
    [
      'constraints:\n  guard:\n    tool_policy:\n      a: maybe\n',
      /^skills\/style\/SKILL\.md:7: constraints\.guard\.tool_policy\.a: expected allow, confirm or deny, or/,
    ],
    [
      'constraints:\n  guard:\n    tool_policy:\n      a: [deny, { policy: no, when: {} }]\n',
      /:7: constraints\.guard\.tool_policy\.a\.1\.policy: Invalid option: expected one of "allow"/,
    ],
    ['constraints:\n  guard: { max_tool_calls: some }\n', /:5: constraints\.guard\.max_tool_calls: expected a number, not text$/],
    ['constraints:\n  guard: { budjet: {} }\n', /:5: constraints\.guard\.budjet: there is no such constraint/],
  ])('%j', (more, message) => {
    const { report } = loadOne('style', skillText('style', more));
    expect(reportLines(report)).toEqual([expect.stringMatching(message)]);
  });

  it.each([
    ['permissions: { filesystem: { read: all } }\n', /permissions\.filesystem\.read: expected a list, not text$/],
    ['permissions: { filesystem: { reads: [] } }\n', /permissions\.filesystem\.reads: there is no such permission$/],
    ['permissions: { network: { allowed_ports: [http] } }\n', /permissions\.network\.allowedPorts\.0: expected a number, not text$/],
  ])('%j', (more, message) => {
    const { report } = loadOne('style', skillText('style', TOOL + more), HANDLER);
    expect(reportLines(report)).toEqual([expect.stringMatching(message)]);
  });
});
