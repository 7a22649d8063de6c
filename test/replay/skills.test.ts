import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadSkills } from '../../lib/adapters/skills/load.ts';
import { configSchema } from '../../lib/core/config.ts';

const FRONT_MATTER: Readonly<Record<string, string>> = {
  plain: 'name: plain\ndescription: Makes reports.',
  colon: 'name: colon\ndescription: Use when: the user asks for a report: weekly, or monthly',
  'colon-first': 'description: How to: write\nname: colon-first',
  broken: 'name: broken\ndescription: "never closed',
  nameless: 'description: Has no name: at all',
  empty: '',
};

describe('replays about skills', () => {
  let root: string;
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'handrail-skills-'));
    for (const [name, front] of Object.entries(FRONT_MATTER)) {
      await mkdir(join(root, 'skills', name), { recursive: true });
      await writeFile(join(root, 'skills', name, 'SKILL.md'), `---\n${front}\n---\n\nDo this, then that.\n`);
    }
  });
  afterAll(() => rm(root, { recursive: true, force: true }));

  it('R65: an unquoted colon in a description is read; what cannot be read is named with its reason; none is lost', () => {
    const { security } = configSchema.parse({});
    const { catalogue } = loadSkills({ directories: ['skills'], root, tools: [], security, trusted: new Set() });
    const accepted = new Map(catalogue.skills.map(({ name, description }) => [name, description]));
    expect(accepted.get('plain')).toBe('Makes reports.');
    expect(accepted.get('colon')).toBe('Use when: the user asks for a report: weekly, or monthly');
    expect(accepted.get('colon-first')).toBe('How to: write');
    const told = JSON.stringify(catalogue);
    for (const name of Object.keys(FRONT_MATTER)) expect(told).toContain(`skills/${name}/SKILL.md`);
    for (const name of ['broken', 'empty']) expect(accepted.has(name)).toBe(false);
  });
});
