import { isJsonObject, type Json, type JsonObject } from '../json.ts';
import { SKILL } from '../limits.ts';
import { visible } from '../visible.ts';
import { readConstraints } from './constraints.ts';
import { type HandlerSettings, isHandlerSkill, readHandler } from './handler.ts';
import { kindOf, readName } from './name.ts';
import { type FrontMatter, Notes } from './notes.ts';
import { type Skill, type SkillFile, type SkillProblem, skillSchema, toolNameOfSkill } from './skill.ts';
import { isTreeSkill, readTree } from './tree.ts';

/** One folder with a SKILL.md, read and split. */
export interface SkillSource {
  /** Its SKILL.md, as people are told of it. */
  readonly file: string;
  /** Name of the folder. */
  readonly directory: string;
  readonly frontMatter: FrontMatter;
  readonly body: string;
  /** Regular files of the folder but SKILL.md; what a link points at is not among them. */
  readonly files: readonly SkillFile[];
  /** What was odd about the text itself. */
  readonly warnings: readonly SkillProblem[];
}

export interface SkillSettings extends HandlerSettings {
  /** Names and aliases of the tools that are not skills. */
  readonly toolNames: ReadonlySet<string>;
}

/** What became of one folder. `skill` is there exactly when `problems` is empty. */
export interface SkillOutcome {
  readonly file: string;
  readonly name: string | undefined;
  readonly skill: Skill | undefined;
  readonly problems: readonly SkillProblem[];
  readonly warnings: readonly SkillProblem[];
  /** Line of a field in its file. */
  readonly lineOf: FrontMatter['lineOf'];
}

const KEYS = new Set(
  (
    'name description license compatibility metadata allowed-tools constraints requires execution parameters permissions timeout ' +
    'max_concurrency handler idempotent parallel_safe tree inputs outputs skill_result_key'
  ).split(' '),
);
/** Keys that claim what only the operator decides. To ignore them would let their author believe that they hold. */
const OPERATORS = new Set(['policy', 'guard', 'security', 'trusted']);
/** Words that speak to the model instead of saying what the skill does. */
const SPEAKS_TO_MODEL =
  /\b(?:system\s*:|ignore (?:all|any|every|previous|prior|other|the)\b|disregard\b|always (?:call|use|run) this\b|you must\b)/i;

/**
 * A skill from its front matter and body (design section 7). Pure: everything that was read is given. All that is wrong is
 * reported at once, each with its line; what can be read in spite of it is a warning.
 */
export function readSkill(source: SkillSource, settings: SkillSettings): SkillOutcome {
  const notes = new Notes(source.file, source.frontMatter);
  const { data } = source.frontMatter;
  const name = readName(data['name'], source.directory, notes);
  if (name !== undefined && settings.toolNames.has(name)) notes.problem(['name'], `"${name}" is the name of a built-in tool`);
  const description = readDescription(data['description'], notes);
  const shared = {
    name: name ?? '',
    description: description ?? '',
    file: source.file,
    body: source.body.trim(),
    files: [...source.files],
    requires: readNames(data, 'requires', notes),
    constraints: readConstraints(data['constraints'], notes),
    ...optionalText(data, 'license', notes),
    ...optionalText(data, 'compatibility', notes),
    ...readAllowedTools(data['allowed-tools'], notes),
  };
  checkBody(shared.body, notes);
  checkMetadata(data['metadata'], notes);
  checkKeys(data, notes);
  const own = readKind(source, settings, name, notes, shared.description);
  const problems = notes.problems;
  const warnings = [...source.warnings, ...notes.warnings];
  const skill = problems.length === 0 && own !== undefined ? skillSchema.parse({ ...shared, ...own }) : undefined;
  return { file: source.file, name, skill, problems, warnings, lineOf: (path) => source.frontMatter.lineOf(path) };
}

/** What makes the skill the kind that it is. Undefined after problems were noted. */
function readKind(
  source: SkillSource,
  settings: SkillSettings,
  name: string | undefined,
  notes: Notes,
  description: string,
): { readonly kind: Skill['kind'] } | undefined {
  const { data } = source.frontMatter;
  const { execution } = data;
  if (execution !== undefined && execution !== 'prompt' && execution !== 'bt') {
    notes.problem(['execution'], 'is "prompt" or "bt"');
    return undefined;
  }
  if (isTreeSkill(data)) return readTree(data, source.files, notes);
  if (isHandlerSkill(data)) {
    const toolName = toolNameOfSkill(name ?? '');
    if (name !== undefined && name !== toolName && settings.toolNames.has(toolName))
      notes.problem(['name'], `its tool would be called "${toolName}", like a built-in one`);
    return readHandler(data, source.files, { toolName, name: name ?? '', description, body: source.body }, settings, notes);
  }
  for (const file of ['handler.ts', 'handler.js'])
    if (source.files.some(({ path }) => path === file)) notes.warn([], `${file} is not used: declare "parameters" to make it a tool`);
  return { kind: 'prompt' };
}

function readDescription(value: Json | undefined, notes: Notes): string | undefined {
  const path = ['description'];
  if (typeof value !== 'string' || value.trim() === '') {
    const what = value === undefined || value === null || value === '' ? 'there is none' : `is ${kindOf(value)}, not text`;
    notes.problem(path, `${what}; it is all that an agent sees when it decides whether to use the skill`);
    return undefined;
  }
  const text = value.trim().replace(/\s+/g, ' ');
  const shown = visible(text);
  if (shown !== text) notes.warn(path, 'has invisible or direction-changing characters; they are shown written out');
  if (SPEAKS_TO_MODEL.test(text)) notes.warn(path, 'speaks to the model instead of saying what the skill does');
  if ([...text].length > SKILL.descriptionCharacters)
    notes.warn(path, `is longer than ${SKILL.descriptionCharacters} characters; the rest is not shown`);
  return [...shown].slice(0, SKILL.descriptionCharacters).join('');
}

function optionalText(data: JsonObject, key: 'license' | 'compatibility', notes: Notes): { [key: string]: string } {
  const value = data[key];
  if (typeof value === 'string') return { [key]: value };
  if (value !== undefined && value !== null) notes.warn([key], `is ${kindOf(value)}, not text; it is ignored`);
  return {};
}

/** A list of names, or one text that holds them. */
function readNames(data: JsonObject, key: string, notes: Notes): string[] {
  const value = data[key];
  if (value === undefined || value === null) return [];
  const list = typeof value === 'string' ? value.split(/[\s,]+/) : value;
  if (!Array.isArray(list) || !list.every((item) => typeof item === 'string')) {
    notes.problem([key], 'must be a list of names');
    return [];
  }
  return [...new Set(list.map((item) => item.normalize('NFC').trim()))].filter((item) => item !== '');
}

/** Tool names of another program that many skills are written for, and which of ours does the same. */
const ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ['Read', 'read_file'],
  ['Write', 'write_file'],
  ['Edit', 'write_file'],
  ['MultiEdit', 'write_file'],
  ['Glob', 'list_directory'],
  ['LS', 'list_directory'],
  ['Bash', 'execute_shell'],
  ['WebFetch', 'web_fetch'],
  ['WebSearch', 'web_search'],
]);

/** The standard has one text with spaces between; `Bash(git:*)` names a tool and what to use it for, which we do not tell apart. */
function readAllowedTools(value: Json | undefined, notes: Notes): { allowedTools?: string[] } {
  const path = ['allowed-tools'];
  if (value === undefined || value === null) return {};
  const commas = typeof value === 'string' && /,/.test(value.replace(/\([^)]*\)/g, ''));
  if (commas) notes.warn(path, 'the standard puts spaces between tools, not commas');
  const items = typeof value === 'string' ? (value.match(/[^\s,(]+(?:\([^)]*\))?/g) ?? []) : value;
  if (!Array.isArray(items) || !items.every((item) => typeof item === 'string')) {
    notes.problem(path, 'must be the names of tools with spaces between');
    return {};
  }
  const names = items.map((item) => item.replace(/\(.*$/s, '').trim()).filter((item) => item !== '');
  return { allowedTools: [...new Set(names.map((item) => ELSEWHERE.get(item) ?? item))] };
}

function checkBody(body: string, notes: Notes): void {
  if (body.length > SKILL.promptBytes)
    notes.warn([], `the text is longer than the ${SKILL.promptBytes} bytes that a prompt has for skills`);
}

function checkMetadata(value: Json | undefined, notes: Notes): void {
  if (value === undefined || value === null) return;
  if (!isJsonObject(value)) notes.warn(['metadata'], `is ${kindOf(value)}, not a map; it is ignored`);
  const nested = isJsonObject(value) ? Object.entries(value).find(([, item]) => typeof item === 'object' && item !== null) : undefined;
  if (nested) notes.warn(['metadata', nested[0]], 'the standard has only texts in metadata; nothing of it is read here');
}

function checkKeys(data: JsonObject, notes: Notes): void {
  const unknown: string[] = [];
  for (const key of Object.keys(data)) {
    if (OPERATORS.has(key)) notes.problem([key], 'only the configuration decides this; "constraints" may tighten what holds');
    else if (!KEYS.has(key)) unknown.push(key);
  }
  const [first] = unknown;
  if (first !== undefined) notes.warn([first], `not read: ${unknown.slice(0, 12).join(', ')}${unknown.length > 12 ? ', …' : ''}`);
}
