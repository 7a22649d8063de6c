import type { SkillOutcome } from './parse.ts';
import type { Skill, SkillCatalogue, SkillProblem, SkillReport } from './skill.ts';
import { toolNameOfSkill } from './skill.ts';
import type { CheckTree } from './tree.ts';

/**
 * The skills of a deployment together: a name belongs to the first that has it, what is required must be there, and nothing
 * may require itself by a detour (design 3.6 and 7). Deterministic in the order of `outcomes`.
 */
export function buildCatalogue(outcomes: readonly SkillOutcome[], trees?: CheckTrees): SkillCatalogue {
  const problems = new Map<SkillOutcome, SkillProblem[]>(outcomes.map((outcome) => [outcome, [...outcome.problems]]));
  const reject: Reject = (outcome, field, reason) => {
    problems.get(outcome)?.push({ file: outcome.file, line: outcome.lineOf([field]), reason: `${field}: ${reason}` });
  };
  const alive = (): SkillOutcome[] => outcomes.filter((outcome) => outcome.skill && problems.get(outcome)?.length === 0);
  rejectTaken(alive(), reject);
  rejectCycles(alive(), reject);
  checkTrees(alive(), trees, problems);
  while (rejectUnmet(alive(), outcomes, reject));
  return {
    v: 1,
    skills: alive().flatMap(({ skill }) => skill ?? []),
    reports: outcomes.map((outcome) => reportOf(outcome, problems.get(outcome) ?? [])),
  };
}

/** How a tree is checked in a deployment that has these skills. */
export type CheckTrees = (skills: readonly Skill[]) => CheckTree;

/** Once all others are known, since a tree may call any of them. */
function checkTrees(outcomes: readonly SkillOutcome[], trees: CheckTrees | undefined, problems: Map<SkillOutcome, SkillProblem[]>): void {
  const check = trees?.(outcomes.flatMap(({ skill }) => skill ?? []));
  for (const outcome of outcomes) {
    const { skill, file } = outcome;
    if (skill?.kind === 'tree') problems.get(outcome)?.push(...(check?.(skill.tree, file.replace(/[^/]*$/, skill.tree.file)) ?? []));
  }
}

type Reject = (outcome: SkillOutcome, field: string, reason: string) => void;

function rejectTaken(outcomes: readonly SkillOutcome[], reject: Reject): void {
  const owners = new Map<string, SkillOutcome>();
  for (const outcome of outcomes) {
    // `web-scraper` and `web_scraper` would be one tool, and two folders on no account two names.
    const key = toolNameOfSkill(outcome.name ?? '');
    const owner = owners.get(key);
    if (owner === undefined) owners.set(key, outcome);
    else reject(outcome, 'name', `"${outcome.name}" is taken by ${owner.file}, which was found first`);
  }
}

function rejectCycles(outcomes: readonly SkillOutcome[], reject: Reject): void {
  const byName = new Map(outcomes.map((outcome) => [outcome.name, outcome]));
  const wayBack = (start: Skill): string[] | undefined => {
    const seen = new Set<string>();
    const ways = [[start.name]];
    for (let way = ways.pop(); way !== undefined; way = ways.pop())
      for (const next of byName.get(way.at(-1))?.skill?.requires ?? []) {
        if (next === start.name) return [...way, next];
        if (!seen.has(next)) ways.push([...way, next]);
        seen.add(next);
      }
    return undefined;
  };
  for (const [outcome, way] of outcomes.map((one) => [one, one.skill && wayBack(one.skill)] as const))
    if (way) reject(outcome, 'requires', `leads back to itself: ${way.join(' → ')}`);
}

/** True when another look is needed: what was rejected here may be required elsewhere. */
function rejectUnmet(alive: readonly SkillOutcome[], all: readonly SkillOutcome[], reject: Reject): boolean {
  const names = new Set(alive.map(({ name }) => name));
  let found = false;
  for (const outcome of alive) {
    const unmet = outcome.skill?.requires.find((name) => !names.has(name));
    if (unmet === undefined) continue;
    found = true;
    reject(outcome, 'requires', `"${unmet}" ${all.some(({ name }) => name === unmet) ? 'was rejected' : 'is not there'}`);
  }
  return found;
}

function reportOf(outcome: SkillOutcome, problems: readonly SkillProblem[]): SkillReport {
  const accepted = outcome.warnings.length > 0 ? 'accepted_with_warnings' : 'accepted';
  return {
    file: outcome.file,
    ...(outcome.name === undefined ? {} : { name: outcome.name }),
    status: problems.length > 0 ? 'rejected' : accepted,
    problems: [...problems],
    warnings: [...outcome.warnings],
  };
}
