import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type LoadedSkills, loadSkills } from '../adapters/skills/load.ts';
import { treeChecker } from '../adapters/skills/tree-file.ts';
import { type Config, configSchema } from '../core/config.ts';
import { danglingNames } from '../core/config-names.ts';
import { HandrailError } from '../core/errors.ts';
import { reportLines, type SkillCatalogue } from '../core/skills/skill.ts';
import { concurrencyCategories, productTools } from '../tools/names.ts';
import { configError, type Place } from './config.ts';

export type SkillConfig = Pick<Config, 'skills' | 'security' | 'agents'>;

/**
 * The skills that a configuration names, from disk. Trees are checked against the tools, agents and skills there are, handler
 * skills among them. Never throws for a bad skill: the reports say what became of each.
 */
export function loadConfiguredSkills(config: SkillConfig, configDirectory: string): LoadedSkills {
  const tools = [...productTools.tools, ...productTools.builtIns];
  return loadSkills({
    directories: config.skills.directories,
    root: configDirectory,
    security: config.security,
    trusted: new Set(config.skills.trusted),
    tools,
    checkTrees: (skills) =>
      treeChecker(
        {
          tools: [...tools, ...skills.flatMap((skill) => (skill.kind === 'handler' ? [skill.tool] : []))],
          agents: Object.keys(config.agents),
          skills: skills.map(({ name }) => name),
        },
        (agent) => (Object.hasOwn(config.agents, agent) ? (config.agents[agent]?.skills ?? []) : []),
      ),
  });
}

/**
 * Throws BAD_REQUEST, with file, line and field of each, for names in the configuration that stand for nothing: tools, skills,
 * categories, directories.
 */
export function checkNames(config: Config, { catalogue }: LoadedSkills, configDirectory: string, place?: Place): void {
  const missing = config.skills.directories.flatMap((directory, index) =>
    directory === DEFAULT_DIRECTORY || existsSync(resolve(configDirectory, directory))
      ? []
      : [{ path: ['skills', 'directories', index], message: `there is no directory "${directory}"` }],
  );
  const dangling = danglingNames(config, { ...productTools, categories: concurrencyCategories, catalogue });
  const error = configError([...missing, ...dangling], place);
  if (error) throw error;
}

/** The one that need not be there, since nobody named it. */
const [DEFAULT_DIRECTORY] = configSchema.parse({}).skills.directories;

/** For a deployment: BAD_REQUEST with a line for each problem of each rejected skill, unless `skills.on_reject` is `skip`. */
export function refuseRejected({ skills }: Pick<Config, 'skills'>, catalogue: SkillCatalogue): void {
  const rejected = catalogue.reports.filter(({ status }) => status === 'rejected');
  if (skills.on_reject === 'skip' || rejected.length === 0) return;
  const lines = rejected.flatMap((report) => reportLines({ ...report, warnings: [] }));
  throw new HandrailError('BAD_REQUEST', `${lines.join('\n')}\n(skills.on_reject: skip leaves rejected skills out)`, { field: 'skills' });
}
