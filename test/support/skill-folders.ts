import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type LoadedSkills, type LoadOptions, loadSkills } from '../../lib/adapters/skills/load.ts';
import { configSchema } from '../../lib/core/config.ts';
import type { SkillReport } from '../../lib/core/skills/skill.ts';
import { productTools } from '../../lib/tools/names.ts';

/** Files by path relative to a fresh directory: the directory. */
export function givenFiles(files: Readonly<Record<string, string | Uint8Array>>): string {
  const root = mkdtempSync(join(tmpdir(), 'handrail-skills-'));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

/** Loads the skills of a directory's `skills`, by the defaults of the configuration. */
export function loadFrom(root: string, over: Partial<LoadOptions> = {}): LoadedSkills {
  const { security } = configSchema.parse({});
  return loadSkills({
    root,
    directories: ['skills'],
    security,
    trusted: new Set(),
    tools: [...productTools.tools, ...productTools.builtIns],
    ...over,
  });
}

/** One skill from the text of its SKILL.md, and other files of its folder. */
export function loadOne(
  name: string,
  text: string | Uint8Array,
  files: Readonly<Record<string, string>> = {},
  over: Partial<LoadOptions> = {},
): LoadedSkills & { readonly report: SkillReport; readonly reasons: readonly string[]; readonly warned: readonly string[] } {
  const beside = Object.fromEntries(Object.entries(files).map(([path, content]) => [`skills/${name}/${path}`, content]));
  const loaded = loadFrom(givenFiles({ [`skills/${name}/SKILL.md`]: text, ...beside }), over);
  const [report] = loaded.catalogue.reports;
  if (!report) throw new Error(`${name} was lost`);
  const show = ({ line, reason }: { line: number; reason: string }): string => `${line}: ${reason}`;
  return { ...loaded, report, reasons: report.problems.map(show), warned: report.warnings.map(show) };
}
