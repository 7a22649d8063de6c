import { knownToolProblem, type NamedTool, ruleNameProblem } from '../guard/named-tools.ts';
import type { SkillOutcome } from './parse.ts';
import type { Skill, SkillCatalogue, SkillProblem, SkillReport } from './skill.ts';
import { toolNameOfSkill } from './skill.ts';
import type { CheckTree, SkillCall } from './tree.ts';

/** How a tree is checked in a deployment that has these skills. */
export type CheckTrees = (skills: readonly Skill[]) => CheckTree;

export interface CatalogueOptions {
  /** The tools that are not skills. */
  readonly tools: readonly NamedTool[];
  /** Absent: trees are taken as they are. */
  readonly checkTrees?: CheckTrees;
}

/**
 * The skills of a deployment together: a name belongs to the first that has it, what is named must be there, and nothing
 * may call itself by a detour (design 3.6 and 7). Deterministic in the order of `outcomes`.
 */
export function buildCatalogue(outcomes: readonly SkillOutcome[], { tools, checkTrees }: CatalogueOptions): SkillCatalogue {
  const found = outcomes.map((outcome) => new Found(outcome));
  const all = [...tools, ...outcomes.flatMap(toolOf)];
  const alive = (): Found[] => found.filter((one) => one.accepted);
  rejectTaken(alive());
  for (const one of alive()) checkToolNames(one, all);
  readTrees(alive(), checkTrees?.(skillsOf(alive())));
  for (const [one, problem] of alive().flatMap(circleOf)) one.problems.push(problem);
  while (rejectUnmet(alive(), found));
  return { v: 1, skills: skillsOf(alive()), reports: found.map(reportOf) };
}

/** A folder with a SKILL.md, and what is known of it so far. */
class Found {
  readonly outcome: SkillOutcome;
  readonly problems: SkillProblem[];
  readonly warnings: SkillProblem[];
  /** Skills that come with it or that it can run. */
  readonly calls: SkillCall[];

  constructor(outcome: SkillOutcome) {
    this.outcome = outcome;
    this.problems = [...outcome.problems];
    this.warnings = [...outcome.warnings];
    const line = outcome.lineOf(['requires']);
    this.calls = (outcome.skill?.requires ?? []).map((skill) => ({ skill, file: outcome.file, line, field: 'requires' }));
  }

  get accepted(): boolean {
    return this.outcome.skill !== undefined && this.problems.length === 0;
  }

  place(path: readonly string[], reason: string): SkillProblem {
    return { file: this.outcome.file, line: this.outcome.lineOf(path), reason: `${path.join('.')}: ${reason}` };
  }
}

/** The tool that a skill is. One that was rejected may come back as one: a rule on it is no slip. */
function toolOf({ name, skill }: SkillOutcome): NamedTool[] {
  const may = name !== undefined && (skill === undefined || skill.kind === 'handler');
  return may ? [{ name: toolNameOfSkill(name), aliases: [] }] : [];
}

const skillsOf = (found: readonly Found[]): Skill[] => found.flatMap(({ outcome }) => outcome.skill ?? []);

function rejectTaken(found: readonly Found[]): void {
  const owners = new Map<string, SkillOutcome>();
  for (const one of found) {
    const { name } = one.outcome;
    // `web-scraper` and `web_scraper` would be one tool, and two folders on no account two names.
    const key = toolNameOfSkill(name ?? '');
    const owner = owners.get(key);
    if (owner === undefined) owners.set(key, one.outcome);
    else one.problems.push(one.place(['name'], `"${name}" is taken by ${owner.file}, which was found first`));
  }
}

/**
 * A constraint on a tool that is not there holds nothing, though its author believes that it does. Tools that other programs have may
 * stand in `allowed-tools`, which only narrows.
 */
function checkToolNames(one: Found, tools: readonly NamedTool[]): void {
  const { skill } = one.outcome;
  for (const key of Object.keys(skill?.constraints.guard?.tool_policy ?? {})) {
    const problem = ruleNameProblem(key, tools);
    if (problem !== undefined) one.problems.push(one.place(['constraints', 'guard', 'tool_policy', key], problem));
  }
  for (const name of skill?.allowedTools ?? []) {
    const problem = knownToolProblem(name, tools);
    if (problem !== undefined) one.warnings.push(one.place(['allowed-tools'], problem));
  }
}

/** Once all others are known, since a tree may call any of them. */
function readTrees(found: readonly Found[], check: CheckTree | undefined): void {
  for (const { outcome, problems, calls } of found) {
    const { skill, file } = outcome;
    if (skill?.kind !== 'tree') continue;
    const read = check?.(skill.tree, file.replace(/[^/]*$/, skill.tree.file));
    problems.push(...(read?.problems ?? []));
    calls.push(...(read?.calls ?? []));
  }
}

/** A skill and the way by which it calls itself in the end, if there is one, where that begins. */
function circleOf(start: Found, _index: number, found: readonly Found[]): [Found, SkillProblem][] {
  const callsOf = new Map(found.map(({ outcome, calls }) => [outcome.name, calls]));
  const seen = new Set<string>();
  const ways = start.calls.map((first) => ({ first, names: [start.outcome.name, first.skill] }));
  for (let way = ways.pop(); way !== undefined; way = ways.pop()) {
    const { first, names } = way;
    const last = names.at(-1) ?? '';
    if (last === start.outcome.name) {
      const { file, line, field } = first;
      return [[start, { file, line, reason: `${field}: leads back to itself: ${names.join(' → ')}` }]];
    }
    if (seen.has(last)) continue;
    seen.add(last);
    ways.push(...(callsOf.get(last) ?? []).map(({ skill }) => ({ first, names: [...names, skill] })));
  }
  return [];
}

/** True when another look is needed: what was rejected here may be called elsewhere. */
function rejectUnmet(alive: readonly Found[], all: readonly Found[]): boolean {
  const names = new Set(alive.map(({ outcome }) => outcome.name));
  let rejected = false;
  for (const { calls, problems } of alive) {
    const unmet = calls.find(({ skill }) => !names.has(skill));
    if (unmet === undefined) continue;
    rejected = true;
    const { skill, file, line, field } = unmet;
    const why = all.some(({ outcome }) => outcome.name === skill) ? 'was rejected' : 'is not there';
    problems.push({ file, line, reason: `${field}: "${skill}" ${why}` });
  }
  return rejected;
}

function reportOf({ outcome, problems, warnings }: Found): SkillReport {
  const accepted = warnings.length > 0 ? 'accepted_with_warnings' : 'accepted';
  return {
    file: outcome.file,
    ...(outcome.name === undefined ? {} : { name: outcome.name }),
    status: problems.length > 0 ? 'rejected' : accepted,
    problems: [...problems],
    warnings: [...warnings],
  };
}
