import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { configSchema } from '../../lib/core/config.ts';
import { loadConfiguredSkills } from '../../lib/runtime/skills.ts';
import { givenFiles } from '../support/skill-folders.ts';
import { median, round } from './bench-runtime.ts';

const COUNT = 500;
const ROUNDS = 5;

/** ms to load 500 skills from disk, checked: 300 prompt, 195 handler, 5 tree skills. Median of 5 after one more. */
export function measureSkillLoading(): number {
  const sources = fileURLToPath(new URL('../../skills/release-check', import.meta.url));
  const root = givenFiles(Object.fromEntries(Array.from({ length: COUNT - 5 }, (_, index) => filesOf(index)).flat()));
  try {
    for (let index = 0; index < 5; index++) cpSync(sources, join(root, 'skills', `release-check-${index}`), { recursive: true });
    const config = configSchema.parse({ skills: { directories: ['skills'] } });
    const times = Array.from({ length: ROUNDS + 1 }, () => {
      const began = performance.now();
      const { catalogue } = loadConfiguredSkills(config, root);
      if (catalogue.reports.length !== COUNT) throw new Error(`${catalogue.reports.length} skills were found`);
      return performance.now() - began;
    });
    return round(median(times.slice(1)));
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

function filesOf(index: number): [string, string][] {
  const name = `skill-${index}`;
  const head = `name: ${name}\ndescription: Does the work number ${index}, and nothing else. Use it when that is what is asked.\n`;
  if (index < 300)
    return [
      [`skills/${name}/SKILL.md`, `---\n${head}allowed-tools: read_file write_file\n---\n${`Step of ${name}.\n`.repeat(40)}`],
      [`skills/${name}/references/notes.md`, 'A note.\n'.repeat(50)],
    ];
  const tool =
    'parameters:\n  text: { type: string, required: true, pattern: "^[a-z ]+$" }\n  count: { type: integer, default: 3 }\n' +
    `permissions:\n  network: { allowed_domains: [api${index}.example.com] }\ntimeout: 20000\n`;
  return [
    [`skills/${name}/SKILL.md`, `---\n${head}${tool}---\nHow to use it.\n`],
    [`skills/${name}/handler.ts`, 'export default () => 1;\n'],
  ];
}

if (import.meta.main) console.log(measureSkillLoading());
