import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createCli } from '../../../lib/cli/cli.ts';
import { givenFiles } from '../../support/skill-folders.ts';
import { fakeContext } from './fake-context.ts';

async function handrail(cwd: string, ...args: readonly string[]) {
  const context = fakeContext({ cwd });
  await createCli(context).parseAsync(['node', 'handrail', 'skills', ...args]);
  return { code: context.code(), out: context.out(), err: context.err() };
}
const GOOD = '---\nname: good\ndescription: Good.\n---\n';
const BAD = '---\nname: bad\n---\n';

test('skills check prints what became of each skill, with file, line and reason, and fails when one was rejected', async () => {
  const cwd = givenFiles({
    'skills/good/SKILL.md': GOOD,
    'skills/bad/SKILL.md': BAD,
    'skills/warn/SKILL.md': '---\nname: warn\ndescription: Fine.\nmodel: x\n---\n',
  });
  const { code, out, err } = await handrail(cwd, 'check');
  expect(code).toBe(1);
  expect(out).toMatch(
    /^rejected +bad +- +skills\/bad\/SKILL\.md\nok +good +prompt +skills\/good\/SKILL\.md\nwarning +warn +prompt +skills\/warn\/SKILL\.md\n/,
  );
  expect(out).toContain('skills/bad/SKILL.md:2: description: there is none');
  expect(out).toContain('skills/warn/SKILL.md:4: warning: model: not read: model');
  expect(err).toContain('3 skills, 1 rejected');
  expect((await handrail(cwd, 'check', 'skills/good')).code).toBe(0);
});

test('skills check --json has the same for programs', async () => {
  const cwd = givenFiles({ 'elsewhere/bad/SKILL.md': BAD });
  const { code, out } = await handrail(cwd, 'check', 'elsewhere', '--json');
  expect(code).toBe(1);
  expect(JSON.parse(out)).toEqual({
    rejected: 1,
    skills: [
      {
        file: 'elsewhere/bad/SKILL.md',
        name: 'bad',
        status: 'rejected',
        problems: [{ file: 'elsewhere/bad/SKILL.md', line: 2, reason: expect.stringContaining('description: there is none') }],
        warnings: [],
      },
    ],
  });
});

test('skills check goes by the directories and the security of the configuration', async () => {
  const cwd = givenFiles({
    'handrail.config.yaml': 'skills: { directories: [mine] }\nsecurity: { network: { allowedDomains: [a.example.com] } }\n',
    'mine/online/SKILL.md': '---\nname: online\ndescription: x.\npermissions:\n  network: { allowed_domains: [b.example.com] }\n---\n',
    'mine/online/handler.js': '',
  });
  expect((await handrail(cwd, 'check')).out).toContain(
    'mine/online/SKILL.md:5: permissions.network.allowedDomains: is more than the "security"',
  );
  expect(await handrail(cwd, 'check', 'nowhere')).toMatchObject({ code: 2, err: expect.stringContaining('no directory nowhere') });
});

test.each(['prompt', 'handler', 'tree'])('skills new makes a %s skill that passes the check, and never writes over one', async (kind) => {
  const cwd = givenFiles({ 'handrail.config.yaml': 'skills: { directories: [mine] }\n' });
  const { code, out, err } = await handrail(cwd, 'new', 'my-skill', '--kind', kind);
  expect([code, err]).toEqual([0, '']);
  for (const path of out.trim().split('\n')) expect(existsSync(join(cwd, path))).toBe(true);
  const check = await handrail(cwd, 'check');
  expect(check.out).toMatch(new RegExp(`^ok +my-skill +${kind} +mine/my-skill/SKILL\\.md\\n$`));
  expect(check.code).toBe(0);
  const before = readFileSync(join(cwd, 'mine/my-skill/SKILL.md'), 'utf8');
  expect(await handrail(cwd, 'new', 'my-skill')).toMatchObject({ code: 2, err: expect.stringContaining('already') });
  expect(readFileSync(join(cwd, 'mine/my-skill/SKILL.md'), 'utf8')).toBe(before);
});

test.each(['../evil', 'Upper', 'a--b', '9a', 'a b', ''])('skills new takes no name such as %j', async (name) => {
  const cwd = givenFiles({});
  expect((await handrail(cwd, 'new', name)).code).toBe(2);
  expect(existsSync(join(cwd, 'skills'))).toBe(false);
});
