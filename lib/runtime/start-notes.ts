import type { Config } from '../core/config.ts';
import type { Registry } from '../core/hands/registry.ts';
import type { Json } from '../core/json.ts';
import { createTools } from '../core/loop/built-in.ts';
import { builtIns } from '../core/loop/built-ins/index.ts';
import type { Logger } from '../core/ports/logger.ts';
import { reportLines, type SkillCatalogue } from '../core/skills/skill.ts';
import { configuredCategories } from '../tools/index.ts';

/** What an operator should know of a configuration that holds: what it leaves out. */
export interface StartNote {
  readonly message: string;
  readonly fields: { readonly [key: string]: Json };
}

/** Told once at start, at deployment and by `handrail doctor`; none of it stops anything. */
export function startNotes(registry: Registry, catalogue: SkillCatalogue): StartNote[] {
  const refused = registry.refused().map(({ name, denied }) => ({
    message: 'a tool is left out: it declares more than "security" allows',
    fields: { tool: name, denied: [...denied] },
  }));
  const rejected = catalogue.reports
    .filter(({ status }) => status === 'rejected')
    .map((report) => ({ message: 'a skill is left out', fields: { problems: reportLines({ ...report, warnings: [] }) } }));
  return [...refused, ...rejected];
}

/** The same for a configuration that nothing has been started with. */
export function notesOf(config: Config, catalogue: SkillCatalogue): StartNote[] {
  const { registry } = createTools(configuredCategories(config), builtIns, config.security, catalogue);
  return startNotes(registry, catalogue);
}

/** On a laptop everybody is one person, who started every run. */
export function laptopNotes({ approvals }: Pick<Config, 'approvals'>): StartNote[] {
  if (approvals.self_approve) return [];
  const message =
    'approvals.self_approve is false, and a laptop has one person: what an agent asks for can be rejected here, and approved by nobody';
  return [{ message, fields: {} }];
}

export function logNotes(logger: Logger, notes: readonly StartNote[]): void {
  for (const { message, fields } of notes) logger.warn(message, { ...fields });
}

/** A note as one line for people. */
export function noteLine({ message, fields }: StartNote): string {
  const facts = Object.values(fields).map((value) => (Array.isArray(value) ? value.join('; ') : String(value)));
  return facts.length === 0 ? message : `${message}: ${facts.join(': ')}`;
}
