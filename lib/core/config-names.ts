import { type AgentConfig, type Config, modelConfigSchema } from './config.ts';
import type { Constraints } from './guard/constraints.ts';
import { type NamedTool, ruleNameProblem, toolNameProblem } from './guard/named-tools.ts';
import { nearestName, unknownName } from './hands/nearest-name.ts';
import { type SkillCatalogue, type SkillReport, toolNameOfSkill } from './skills/skill.ts';

const providers: readonly string[] = modelConfigSchema.options.map(({ shape }) => shape.provider.value);

/** Where in the configuration, and what is wrong there. */
export interface ConfigProblem {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** All that names in a configuration may stand for, whether it is switched on or not. */
export interface KnownNames {
  /** The tools of the categories. */
  readonly tools: readonly NamedTool[];
  /** Those that `reason` carries out itself. */
  readonly builtIns: readonly NamedTool[];
  readonly categories: readonly string[];
  readonly catalogue: SkillCatalogue;
}

/** Names that stand for nothing: what they say would have no effect, and nobody would be told. */
export function danglingNames(config: Config, known: KnownNames): ConfigProblem[] {
  const skillTools = toolsOfSkills(known.catalogue);
  const tools = [...known.tools, ...known.builtIns, ...skillTools];
  const rules = (path: ConfigProblem['path'], constraints: Pick<Constraints, 'guard'>): ConfigProblem[] =>
    check([...path, 'guard', 'tool_policy'], Object.keys(constraints.guard?.tool_policy ?? {}), (key) => ruleNameProblem(key, tools));
  const agent = ([name, own]: [string, AgentConfig]): ConfigProblem[] => [
    ...checkList(['agents', name, 'tools'], own.tools ?? [], (tool) => toolNameProblem(tool, tools)),
    ...checkList(['agents', name, 'skills'], own.skills, (skill) => skillProblem(skill, known.catalogue)),
    ...rules(['agents', name, 'constraints'], own.constraints),
  ];
  const { concurrency } = config.hands;
  const limited = (name: string): string | undefined =>
    skillTools.some((tool) => tool.name === name)
      ? `"${name}" is a skill, and limited by "max_concurrency" in its SKILL.md`
      : toolNameProblem(name, known.tools);
  return [
    ...rules(['constraints'], config.constraints),
    ...Object.entries(config.agents).flatMap(agent),
    ...check(['hands', 'concurrency', 'categories'], Object.keys(concurrency.categories), (name) =>
      among('category', name, known.categories),
    ),
    ...check(['hands', 'concurrency', 'tools'], Object.keys(concurrency.tools), limited),
    ...checkList(['skills', 'trusted'], config.skills.trusted, (name) => among('skill', name, skillNames(known.catalogue))),
  ];
}

/** The same for what a configuration says of models, which needs nothing but itself. */
export function danglingModels({ agents, models, prices }: Config): ConfigProblem[] {
  // Where none is configured there is one all the same, called so.
  const names = Object.keys(models).length > 0 ? Object.keys(models) : ['default'];
  const unknown = Object.entries(agents).flatMap(([name, { model }]) =>
    names.includes(model) ? [] : [{ path: ['agents', name, 'model'], message: unknownName('model', model, names) }],
  );
  const unpriced = Object.values(models)
    .map(({ provider, model }) => `${provider}/${model}`)
    .filter((id) => !Object.hasOwn(prices, id));
  return [...unknown, ...check(['prices'], Object.keys(prices), (id) => priceProblem(id, unpriced))];
}

/**
 * A price may stand for a model that is not configured: the environment of a laptop may choose it. One that looks like that of
 * a model without a price is a slip, and that model would cost nothing.
 */
function priceProblem(id: string, unpriced: readonly string[]): string | undefined {
  const [provider = ''] = id.split('/', 1);
  if (!providers.includes(provider)) return unknownName('provider', provider, providers);
  const nearest = unpriced.includes(id) ? undefined : nearestName(id, unpriced);
  return nearest === undefined ? undefined : `no model is called so, and ${nearest} has no price; did you mean that?`;
}

/** The tools that skills are. One that was rejected may come back as one. */
function toolsOfSkills({ skills, reports }: SkillCatalogue): NamedTool[] {
  const rejected = reports.filter(({ status }) => status === 'rejected');
  const names = [...skills.filter(({ kind }) => kind === 'handler').map(({ name }) => name), ...rejected.map(nameOf)];
  return names.map((name) => ({ name: toolNameOfSkill(name), aliases: [] }));
}

/** One that could not be read is known by its folder. */
const nameOf = ({ name, file }: SkillReport): string => name ?? file.split('/').at(-2) ?? '';
const skillNames = ({ reports }: SkillCatalogue): string[] => reports.map(nameOf);

function skillProblem(name: string, catalogue: SkillCatalogue): string | undefined {
  if (catalogue.skills.some((skill) => skill.name === name)) return undefined;
  if (skillNames(catalogue).includes(name)) return `the skill "${name}" was rejected; "handrail skills check" says why`;
  return unknownName('skill', name, skillNames(catalogue));
}

const among = (what: string, name: string, known: readonly string[]): string | undefined =>
  known.includes(name) ? undefined : unknownName(what, name, known);

type Judge = (name: string) => string | undefined;

/** Names that are keys. */
function check(path: ConfigProblem['path'], names: readonly string[], judge: Judge): ConfigProblem[] {
  return names.flatMap((name) => problem([...path, name], judge(name)));
}

/** Names that are items of a list. */
function checkList(path: ConfigProblem['path'], names: readonly string[], judge: Judge): ConfigProblem[] {
  return names.flatMap((name, index) => problem([...path, index], judge(name)));
}

const problem = (path: ConfigProblem['path'], message: string | undefined): ConfigProblem[] =>
  message === undefined ? [] : [{ path, message }];
