import { type LoadedSkills, loadSkills } from '../adapters/skills/load.ts';
import { treeChecker } from '../adapters/skills/tree-file.ts';
import type { Config } from '../core/config.ts';
import { HandrailError } from '../core/errors.ts';
import { chooseSkills } from '../core/skills/select.ts';
import { reportLines, type SkillCatalogue } from '../core/skills/skill.ts';
import { builtInToolNames } from '../tools/names.ts';

export type SkillConfig = Pick<Config, 'skills' | 'security' | 'agents'>;

/**
 * The skills that a configuration names, from disk. Trees are checked against the tools, agents and skills there are, handler
 * skills among them. Never throws for a bad skill: the reports say what became of each.
 */
export function loadConfiguredSkills(config: SkillConfig, configDirectory: string): LoadedSkills {
  const toolNames = builtInToolNames();
  return loadSkills({
    directories: config.skills.directories,
    root: configDirectory,
    security: config.security,
    trusted: new Set(config.skills.trusted),
    toolNames,
    checkTrees: (skills) =>
      treeChecker({
        tools: [...toolNames, ...skills.flatMap((skill) => (skill.kind === 'handler' ? [skill.tool.name] : []))],
        agents: Object.keys(config.agents),
        skills: skills.map(({ name }) => name),
      }),
  });
}

/** Throws BAD_REQUEST when an agent names a skill that is not there. */
export function checkAgentSkills({ agents }: Pick<Config, 'agents'>, catalogue: SkillCatalogue): void {
  for (const [name, agent] of Object.entries(agents))
    try {
      chooseSkills(catalogue, agent.skills);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new HandrailError('BAD_REQUEST', `agents.${name}.skills: ${why}`, { field: `agents.${name}.skills`, cause: error });
    }
}

/** For a deployment: BAD_REQUEST with a line for each problem of each rejected skill, unless `skills.on_reject` is `skip`. */
export function refuseRejected({ skills }: Pick<Config, 'skills'>, catalogue: SkillCatalogue): void {
  const rejected = catalogue.reports.filter(({ status }) => status === 'rejected');
  if (skills.on_reject === 'skip' || rejected.length === 0) return;
  const lines = rejected.flatMap((report) => reportLines({ ...report, warnings: [] }));
  throw new HandrailError('BAD_REQUEST', `${lines.join('\n')}\n(skills.on_reject: skip leaves rejected skills out)`, { field: 'skills' });
}
