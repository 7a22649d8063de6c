import { HandrailError } from '../errors.ts';
import type { ToolDefinition } from '../hands/define-tool.ts';
import type { Skill, SkillCatalogue } from './skill.ts';

/** By exact name. */
export function skillNamed(catalogue: SkillCatalogue | undefined, name: string): Skill | undefined {
  return catalogue?.skills.find((skill) => skill.name === name);
}

/**
 * The skills `names` and all that they require, each once, what is required before what requires it. BAD_REQUEST for a name
 * that no accepted skill has; for one that was rejected it says so.
 */
export function chooseSkills(catalogue: SkillCatalogue | undefined, names: readonly string[]): Skill[] {
  const chosen = new Map<string, Skill>();
  const add = (name: string): void => {
    if (chosen.has(name)) return;
    const skill = skillNamed(catalogue, name);
    if (!skill) throw unknownSkill(catalogue, name);
    for (const required of skill.requires) add(required);
    chosen.set(name, skill);
  };
  for (const name of names) add(name);
  return [...chosen.values()];
}

/** BAD_REQUEST that says what there is. */
export function unknownSkill(catalogue: SkillCatalogue | undefined, name: string): HandrailError {
  const rejected = catalogue?.reports.some((report) => report.name === name && report.status === 'rejected');
  const names = catalogue?.skills.map((skill) => skill.name).join(', ') || 'none';
  const why = rejected ? `the skill "${name}" was rejected; "handrail skills check" says why` : `there is no skill "${name.slice(0, 100)}"`;
  return new HandrailError('BAD_REQUEST', `${why}; there are: ${names}`, { field: 'skills' });
}

/**
 * What the chosen skills leave of an agent's tools: each one's `allowed-tools` narrows further (design section 7). A skill that
 * names none narrows nothing. `resolve`: a tool by name or alias.
 */
export function narrowTools(
  tools: readonly ToolDefinition[],
  chosen: readonly Skill[],
  resolve: (name: string) => ToolDefinition | undefined,
): ToolDefinition[] {
  const sets = chosen.flatMap((skill) => (skill.allowedTools ? [new Set(skill.allowedTools.map((name) => resolve(name)?.name))] : []));
  // A skill that is itself a tool was chosen to be used.
  const own = new Set(chosen.flatMap((skill) => (skill.kind === 'handler' ? [skill.tool.name] : [])));
  return tools.filter(({ name }) => own.has(name) || sets.every((set) => set.has(name)));
}
