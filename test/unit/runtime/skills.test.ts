import { describe, expect, it } from 'vitest';
import { parseConfig, readConfig } from '../../../lib/runtime/config.ts';
import { checkNames, loadConfiguredSkills } from '../../../lib/runtime/skills.ts';
import { givenFiles } from '../../support/skill-folders.ts';

const skill = (name: string, more = ''): string => `---\nname: ${name}\ndescription: Does one thing.\n${more}---\nBody.\n`;

/** What the check of names says of a configuration beside these skills; nothing when all stand for something. */
function said(text: string, files: Readonly<Record<string, string>> = {}): string {
  const root = givenFiles(files);
  const { config, place } = readConfig('handrail.config.yaml', () => text);
  try {
    checkNames(config, loadConfiguredSkills(config, root), root, place);
    return '';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const rule = (key: string): string => `constraints:\n  guard:\n    tool_policy:\n      ${key}: deny\n`;
const skills = {
  'skills/scrape-page/SKILL.md': skill('scrape-page', 'parameters: {}\n'),
  'skills/scrape-page/handler.js': 'export default () => 1;\n',
  'skills/style/SKILL.md': skill('style'),
  'skills/broken/SKILL.md': '---\nname: broken\n---\n',
  'skills/unread/SKILL.md': '---\na: [\n---\n',
};

describe('names in the configuration', () => {
  it.each([
    ['a tool', rule('write_file')],
    ['an alias', rule('file_write')],
    ['a glob', rule('"web_*"')],
    ['every tool', rule('"*"')],
    ['a tool that reason carries out itself', rule('ask_user')],
    ['a tool that is switched off', rule('web_search')],
    ['the tool of a skill', rule('scrape_page')],
    ['the tool of a skill that was rejected', rule('broken')],
    ['the tool of a skill that could not be read', rule('unread')],
    ["an agent's tools and skills", 'agents: { default: { tools: [read_file, scrape_page, ask_user], skills: [style, scrape-page] } }\n'],
    ['levels of concurrency', 'hands: { concurrency: { categories: { file: 1, skill: 1 }, tools: { web_search: 1 } } }\n'],
    ['a skill that is trusted before it is sound', 'skills: { trusted: [broken] }\n'],
    ['nothing at all', ''],
  ])('may stand for %s', (_what, text) => {
    expect(said(text, skills)).toBe('');
  });

  it.each([
    [
      'a misspelt tool',
      rule('wirte_file'),
      '4: constraints.guard.tool_policy.wirte_file: there is no tool "wirte_file"; did you mean "write_file"?',
    ],
    ['a glob that fits nothing', rule('"wbe_*"'), '4: constraints.guard.tool_policy.wbe_*: fits the name of no tool'],
    ['a skill that is no tool', rule('style'), '4: constraints.guard.tool_policy.style: there is no tool "style"'],
    [
      'a rule of an agent',
      `agents:\n  a:\n    constraints: { guard: { tool_policy: { loook: deny } } }\n`,
      '3: agents.a.constraints.guard.tool_policy.loook: there is no tool',
    ],
    [
      "an agent's tool",
      'agents:\n  default:\n    tools:\n      - read_file\n      - raed_file\n',
      '5: agents.default.tools.1: there is no tool "raed_file"; did you mean "read_file"?',
    ],
    [
      "an agent's tool by an alias",
      'agents: { default: { tools: [file_read] } }\n',
      '1: agents.default.tools.0: "file_read" is an alias; write "read_file"',
    ],
    [
      "an agent's skill",
      'agents: { default: { skills: [stlye] } }\n',
      '1: agents.default.skills.0: there is no skill "stlye"; did you mean "style"?',
    ],
    [
      "an agent's skill that was rejected",
      'agents: { default: { skills: [broken] } }\n',
      '1: agents.default.skills.0: the skill "broken" was rejected',
    ],
    [
      'a category',
      'hands:\n  concurrency:\n    categories:\n      fiel: 1\n',
      '4: hands.concurrency.categories.fiel: there is no category "fiel"; did you mean "file"?',
    ],
    [
      'a limited tool',
      'hands: { concurrency: { tools: { web_serach: 1 } } }\n',
      '1: hands.concurrency.tools.web_serach: there is no tool "web_serach"; did you mean "web_search"?',
    ],
    [
      'a limited tool that takes no permit',
      'hands: { concurrency: { tools: { ask_user: 1 } } }\n',
      '1: hands.concurrency.tools.ask_user: there is no tool',
    ],
    [
      'a limited skill',
      'hands: { concurrency: { tools: { scrape_page: 1 } } }\n',
      '1: hands.concurrency.tools.scrape_page: "scrape_page" is a skill, and limited by "max_concurrency"',
    ],
    [
      'a trusted skill',
      'skills: { trusted: [scrape-pages] }\n',
      '1: skills.trusted.0: there is no skill "scrape-pages"; did you mean "scrape-page"?',
    ],
    ['a directory', 'skills: { directories: [skills, skils] }\n', '1: skills.directories.1: there is no directory "skils"'],
  ])('may not stand for nothing: %s', (_what, text, message) => {
    expect(said(text, skills)).toMatch(new RegExp(`^handrail\\.config\\.yaml:${message.replace(/[.*?"()[\]]/g, '\\$&')}`));
  });

  it('are told all at once', () => {
    const text = `${rule('loook')}agents: { default: { tools: [raed_file], skills: [x] } }\n`;
    expect(said(text).split('\n')).toHaveLength(3);
  });

  it('of models need no more than the file', () => {
    const refused = (text: string): string => {
      try {
        parseConfig(text, 'c.yaml');
        return '';
      } catch (error) {
        return error instanceof Error ? error.message : String(error);
      }
    };
    const models = 'models: { default: { provider: anthropic, model: claude-sonnet-4-5 } }\n';
    const price = (id: string): string => `prices: { "${id}": { input: 1, output: 1 } }\n`;
    expect(refused('agents: { default: { model: nothere } }\n')).toBe(
      'c.yaml:1: agents.default.model: there is no model "nothere"; expected one of default',
    );
    expect(refused(models + price('anthropic/claude-sonnet-4-5'))).toBe('');
    expect(refused(models + price('scripted/demo'))).toBe('');
    expect(refused(models + price('anthropic/claude-sonet-4-5'))).toBe(
      'c.yaml:2: prices.anthropic/claude-sonet-4-5: no model is called so, and anthropic/claude-sonnet-4-5 has no price; did you mean that?',
    );
    expect(refused(price('antropic/claude'))).toBe(
      'c.yaml:1: prices.antropic/claude: there is no provider "antropic"; did you mean "anthropic"?',
    );
  });
});

describe('skills that call each other in a circle', () => {
  const tree = (name: string, text: string, more = ''): Record<string, string> => ({
    [`skills/${name}/SKILL.md`]: skill(name, `execution: bt\n${more}`),
    [`skills/${name}/tree.yaml`]: text,
  });
  const running = (name: string): string =>
    `root:\n  type: sequence\n  children:\n    - { type: set, key: call, value: { skill: ${name} } }\n    - { type: tool, tool: run_bt_skill, input_key: call }\n`;
  const asking = (more: string): string => `root: { type: agent, task: do it, output_key: skill_result, ${more} }\n`;
  const problems = (files: Readonly<Record<string, string>>, config = ''): Record<string, string[]> => {
    const { catalogue } = loadConfiguredSkills(parseConfig(config, 'c.yaml'), givenFiles(files));
    const lines = catalogue.reports.map(({ name, problems: found }) => [
      name,
      found.map(({ file, line, reason }) => `${file}:${line}: ${reason}`),
    ]);
    return Object.fromEntries(lines) as Record<string, string[]>;
  };

  it('by trees that run each other are refused, with the way round', () => {
    expect(problems({ ...tree('a', running('b')), ...tree('b', running('a')) })).toEqual({
      a: ['skills/a/tree.yaml:5: root.children.1.input_key: leads back to itself: a → b → a'],
      b: ['skills/b/tree.yaml:5: root.children.1.input_key: leads back to itself: b → a → b'],
    });
  });

  it('by a tree that runs itself', () => {
    expect(problems(tree('a', running('a')))['a']).toEqual([expect.stringContaining('leads back to itself: a → a')]);
  });

  it('by the skills of agent nodes, and what these require', () => {
    const files = {
      ...tree('c', asking('skills: [style]')),
      ...tree('d', asking('skills: [c]')),
      'skills/style/SKILL.md': skill('style', 'requires: [d]\n'),
    };
    expect(problems(files)).toEqual({
      c: ['skills/c/tree.yaml:1: root.skills.0: leads back to itself: c → style → d → c'],
      d: ['skills/d/tree.yaml:1: root.skills.0: leads back to itself: d → c → style → d'],
      style: ['skills/style/SKILL.md:4: requires: leads back to itself: style → d → c → style'],
    });
  });

  it('by the skills that an agent of the configuration brings along', () => {
    const config = 'agents: { default: {}, helper: { skills: [e] } }\n';
    expect(problems(tree('e', asking('agent: helper')), config)['e']).toEqual([
      'skills/e/tree.yaml:1: root.agent: leads back to itself: e → e',
    ]);
  });

  it('by the default of an input', () => {
    const inputs = 'inputs:\n  call: { type: object, default: { skill: f } }\n';
    expect(problems(tree('f', 'root: { type: tool, tool: run_bt_skill, input_key: call }\n', inputs))['f']).toEqual([
      expect.stringContaining('leads back to itself: f → f'),
    ]);
  });

  it('are no circle where the call is never made, or its name is put together at run time', () => {
    const never = running('a').replace('input_key: call', 'input_key: call, execute: false');
    const later = running('"{{next}}"').replace('root:', 'root:');
    expect(problems({ ...tree('a', never), ...tree('b', later), ...tree('g', running('a')) })).toEqual({ a: [], b: [], g: [] });
  });

  it('and a tree that calls one that was rejected, or that nobody has, is rejected too', () => {
    expect(
      problems({ ...tree('a', running('bad')), ...tree('b', running('none')), 'skills/bad/SKILL.md': '---\nname: bad\n---\n' }),
    ).toMatchObject({
      a: ['skills/a/tree.yaml:5: root.children.1.input_key: "bad" was rejected'],
      b: ['skills/b/tree.yaml:5: root.children.1.input_key: "none" is not there'],
    });
  });
});
