import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import type { Config } from '../../core/config.ts';
import { reportLines, type SkillCatalogue, type SkillReport } from '../../core/skills/skill.ts';
import { loadConfig } from '../../runtime/config.ts';
import { readIfThere } from '../../runtime/named-file.ts';
import { loadConfiguredSkills } from '../../runtime/skills.ts';
import type { Command, Handler } from '../command.ts';
import { columns, visible } from '../display-text.ts';
import { EXIT } from '../exit-codes.ts';
import { parseOptions, usageError } from '../failure.ts';
import { printJson } from '../print-json.ts';
import { skillTemplate } from '../skill-templates.ts';

const CONFIG_FILE = 'handrail.config.yaml';
const TYPES = fileURLToPath(new URL('../../core/skills/context.ts', import.meta.url));

const checkOptions = z.object({ json: z.boolean().default(false) });

/** `handrail skills check [dir]`: what becomes of each skill, with file, line and reason. Code 1 when one is rejected. */
export const checkSkills: Handler = async (command, [directory], raw) => {
  const { json } = parseOptions(checkOptions, raw);
  const catalogue = check(command, directory);
  const rejected = catalogue.reports.filter(({ status }) => status === 'rejected').length;
  if (json)
    printJson(command.context, { skills: catalogue.reports.map((report) => ({ ...report, kind: kindOf(report, catalogue) })), rejected });
  else print(command, catalogue, rejected);
  return rejected > 0 ? EXIT.failed : EXIT.ok;
};

const newOptions = z.object({ kind: z.enum(['prompt', 'handler', 'tree']).default('prompt'), json: z.boolean().default(false) });

/** `handrail skills new <name> --kind …`: a folder that passes the check. Never writes over anything. */
export const newSkill: Handler = async (command, [name = ''], raw) => {
  const { kind, json } = parseOptions(newOptions, raw);
  if (!/^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/.test(name) || name.length > 63)
    throw usageError(`a skill is named with a-z and 0-9 in parts joined by hyphens, beginning with a letter: not ${JSON.stringify(name)}`);
  const { cwd, stdout } = command.context;
  const directory = configOf(cwd).skills.directories[0] ?? 'skills';
  const folder = resolve(cwd, directory, name);
  if (existsSync(folder)) throw usageError(`there is a ${relative(cwd, folder)} already`);
  const types = relative(folder, TYPES).replaceAll('\\', '/');
  const files = skillTemplate(kind, name, types);
  for (const { path, text } of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text, { flag: 'wx' });
  }
  const catalogue = check(command, folder);
  const [report] = catalogue.reports;
  const paths = files.map(({ path }) => relative(cwd, join(folder, path)));
  if (json) printJson(command.context, { name, kind, files: paths, report });
  else stdout.write(`${paths.map(visible).join('\n')}\n`);
  if (report?.status === 'accepted') return EXIT.ok;
  for (const line of report ? reportLines(report) : []) command.screen.line(visible(line));
  return EXIT.failed;
};

/** Of `directory`: a skill's folder, or one that holds skills; else of the directories of the configuration. */
function check({ context: { cwd } }: Command, directory: string | undefined): SkillCatalogue {
  const config = configOf(cwd);
  if (directory === undefined) return loadConfiguredSkills(config, cwd).catalogue;
  const wanted = resolve(cwd, directory);
  if (!existsSync(wanted)) throw usageError(`there is no directory ${directory}`);
  const alone = existsSync(join(wanted, 'SKILL.md'));
  // The paths of the report are relative to here, like the directories.
  const above = alone ? dirname(wanted) : wanted;
  const { catalogue } = loadConfiguredSkills({ ...config, skills: { ...config.skills, directories: [above] } }, cwd);
  if (!alone) return catalogue;
  const mine = (file: string): boolean => basename(dirname(file)) === basename(wanted);
  return {
    ...catalogue,
    skills: catalogue.skills.filter(({ file }) => mine(file)),
    reports: catalogue.reports.filter(({ file }) => mine(file)),
  };
}

function configOf(cwd: string): Config {
  return loadConfig(join(cwd, CONFIG_FILE), readIfThere);
}

const kindOf = ({ file }: SkillReport, { skills }: SkillCatalogue): string | undefined => skills.find((skill) => skill.file === file)?.kind;

const STATUS = { accepted: 'ok', accepted_with_warnings: 'warning', rejected: 'rejected' } as const;

function print({ context, screen }: Command, catalogue: SkillCatalogue, rejected: number): void {
  const rows = catalogue.reports.map((report) => [
    STATUS[report.status],
    report.name ?? '-',
    kindOf(report, catalogue) ?? '-',
    visible(report.file),
  ]);
  for (const line of columns(rows)) context.stdout.write(`${line}\n`);
  for (const report of catalogue.reports) for (const line of reportLines(report)) context.stdout.write(`${visible(line)}\n`);
  const count = catalogue.reports.length;
  screen.line(count === 0 ? 'there are no skills here' : `${count} ${count === 1 ? 'skill' : 'skills'}, ${rejected} rejected`);
}
