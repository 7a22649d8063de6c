import { describe, expect, it } from 'vitest';
import { defineTool } from '../../../../lib/core/hands/define-tool.ts';
import { promptWithSkills } from '../../../../lib/core/skills/prompt.ts';
import { chooseSkills, narrowTools } from '../../../../lib/core/skills/select.ts';
import type { Skill, SkillCatalogue } from '../../../../lib/core/skills/skill.ts';

const skill = (name: string, over: Partial<Extract<Skill, { kind: 'prompt' }>> = {}): Extract<Skill, { kind: 'prompt' }> => ({
  kind: 'prompt',
  name,
  description: `About ${name}.`,
  file: `skills/${name}/SKILL.md`,
  body: `Body of ${name}.`,
  requires: [],
  constraints: {},
  files: [],
  ...over,
});
const catalogue = (...skills: Skill[]): SkillCatalogue => ({
  v: 1,
  skills,
  reports: [{ file: 'skills/bad/SKILL.md', name: 'bad', status: 'rejected', problems: [], warnings: [] }],
});
const tools = ['read_file', 'write_file', 'web_fetch'].map((name) =>
  defineTool({
    name,
    description: 'A tool.',
    parameters: { type: 'object' },
    category: 'file',
    aliases: name === 'write_file' ? ['file_write'] : [],
  }),
);
const resolve = (name: string) => tools.find((tool) => tool.name === name || tool.aliases.includes(name));
const BUDGET = { promptBytes: 1_000, listBytes: 400 };

describe('choosing skills', () => {
  it('brings along what they require, each once, before them', () => {
    const all = catalogue(skill('a', { requires: ['b', 'c'] }), skill('b', { requires: ['c'] }), skill('c'));
    expect(chooseSkills(all, ['a', 'c']).map(({ name }) => name)).toEqual(['c', 'b', 'a']);
  });

  it('says what there is when a name is unknown, and that a rejected one was', () => {
    expect(() => chooseSkills(catalogue(skill('a')), ['x'])).toThrow('there is no skill "x"; there are: a');
    expect(() => chooseSkills(catalogue(skill('a')), ['bad'])).toThrow('"bad" was rejected');
    expect(() => chooseSkills(undefined, ['x'])).toThrow('there are: none');
  });
});

describe('allowed-tools', () => {
  it('leaves what every chosen skill names, by alias too; one that names none narrows nothing', () => {
    const names = (...chosen: Skill[]): string[] => narrowTools(tools, chosen, resolve).map(({ name }) => name);
    expect(names()).toEqual(['read_file', 'write_file', 'web_fetch']);
    expect(names(skill('a'))).toEqual(['read_file', 'write_file', 'web_fetch']);
    expect(names(skill('a', { allowedTools: ['file_write', 'read_file'] }))).toEqual(['read_file', 'write_file']);
    expect(names(skill('a', { allowedTools: ['write_file'] }), skill('b', { allowedTools: ['read_file'] }))).toEqual([]);
    expect(names(skill('a', { allowedTools: ['NotOurs'] }))).toEqual([]);
  });
});

describe('the system prompt', () => {
  it('holds the bodies of the chosen, and the others by name and description alone', () => {
    const chosen = skill('a', { files: [{ path: 'ref.md', bytes: 3, text: 'ref' }] });
    const { text, left } = promptWithSkills('You are careful.', { chosen: [chosen], others: [skill('b')], trees: [] }, BUDGET);
    expect(left).toEqual([]);
    expect(text).toMatch(/^You are careful\.\n\n# Skill: a\n\nBody of a\.\n\n.*ref\.md/s);
    expect(text).toContain('- b: About b.');
    expect(text).not.toContain('Body of b.');
    expect(promptWithSkills('Alone.', { chosen: [], others: [], trees: [] }, BUDGET).text).toBe('Alone.');
  });

  it('says what did not fit, and fits what comes after it', () => {
    const { text, left } = promptWithSkills(
      'S',
      { chosen: [skill('long', { body: 'x'.repeat(2_000) }), skill('short')], others: [], trees: [] },
      BUDGET,
    );
    expect(left).toEqual(['long']);
    expect(text).not.toContain('xxxx');
    expect(text).toMatch(/# Skill: long\n\nAbout long\.\n\n\(Its instructions, \d+ bytes, did not fit.*load_skill/);
    expect(text).toContain('Body of short.');
  });

  it('names the skills whose description did not fit', () => {
    const many = Array.from({ length: 40 }, (_, index) => skill(`s${index}`));
    const { text } = promptWithSkills('S', { chosen: [], others: many, trees: [] }, BUDGET);
    expect(text).toContain('- s0: About s0.');
    expect(text).toMatch(/Not described here for lack of room \(\d+\): .*s39/);
  });
});
