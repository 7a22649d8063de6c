import { expect, test } from 'vitest';
import { type ConfigInput, configSchema } from '../../../lib/core/config.ts';
import type { Json } from '../../../lib/core/json.ts';
import { silentLogger } from '../../../lib/core/ports/logger.ts';
import { noSkills, type SkillCatalogue } from '../../../lib/core/skills/skill.ts';
import { laptopNotes, logNotes, noteLine, notesOf } from '../../../lib/runtime/start-notes.ts';

const linesOf = (config: ConfigInput, catalogue: SkillCatalogue = noSkills) => notesOf(configSchema.parse(config), catalogue).map(noteLine);

test('a configuration that means what it says is nothing to tell of', () => {
  const rules = { write_file: 'confirm', 'web_*': 'deny', '*': 'allow' } as const;
  expect(linesOf({ constraints: { guard: { tool_policy: rules } }, agents: { a: { tools: ['read_file'] } } })).toEqual([]);
});

test('a tool that declares more than security allows is told of, with what it lacks', () => {
  const lines = linesOf({
    security: { filesystem: { read: ['**'] }, network: { allowedDomains: ['*'] }, execution: { allowedCommands: ['*'] } },
  });
  expect(lines).toContainEqual(
    expect.stringMatching(/^a tool is left out: it declares more than "security" allows: write_file: filesystem\.write: "/),
  );
});

test('a rejected skill is told of with file, line and reason', () => {
  const problem = { file: 'skills/x/SKILL.md', line: 3, reason: 'description: there is none' };
  const catalogue: SkillCatalogue = {
    v: 1,
    skills: [],
    reports: [{ file: 'skills/x/SKILL.md', status: 'rejected', problems: [problem], warnings: [] }],
  };
  expect(linesOf({}, catalogue)).toEqual(['a skill is left out: skills/x/SKILL.md:3: description: there is none']);
});

test('they are structured lines of the log, one each', () => {
  const logged: [string, { [key: string]: Json } | undefined][] = [];
  const logger = { ...silentLogger, warn: (message: string, fields?: { [key: string]: Json }) => logged.push([message, fields]) };
  logNotes(
    logger,
    notesOf(
      configSchema.parse({ security: { filesystem: { read: ['**'], write: ['**'] }, network: { allowedDomains: ['*'] } } }),
      noSkills,
    ),
  );
  expect(logged).toContainEqual([
    'a tool is left out: it declares more than "security" allows',
    { tool: 'execute_javascript', denied: [expect.stringContaining('node')] },
  ]);
});

test('self_approve: false is told of on a laptop, where it means that nobody can approve', () => {
  expect(laptopNotes(configSchema.parse({})).length).toBe(0);
  expect(laptopNotes(configSchema.parse({ approvals: { self_approve: false } })).map(noteLine)).toEqual([
    expect.stringMatching(/self_approve is false.*approved by nobody$/),
  ]);
});
