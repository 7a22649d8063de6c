import { type Dirent, existsSync, readdirSync } from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import { HandrailError } from '../../core/errors.ts';
import { SKILL } from '../../core/limits.ts';
import { buildCatalogue, type CatalogueOptions } from '../../core/skills/catalogue.ts';
import { readSkill, type SkillOutcome, type SkillSettings } from '../../core/skills/parse.ts';
import { noSkills, type SkillCatalogue } from '../../core/skills/skill.ts';
import { listFolder, readTextFile } from './folder.ts';
import { type SplitSkill, splitSkill } from './front-matter.ts';

export interface LoadOptions extends Omit<SkillSettings, 'toolNames'>, CatalogueOptions {
  /** Directories whose sub-folders are skills; one that is not there holds none. In order of precedence. */
  readonly directories: readonly string[];
  /** Paths are shown relative to this. */
  readonly root: string;
}

export interface LoadedSkills {
  readonly catalogue: SkillCatalogue;
  /** Absolute folder of each accepted skill, by name: where its handler lies. */
  readonly folders: ReadonlyMap<string, string>;
}

export const noLoadedSkills: LoadedSkills = { catalogue: noSkills, folders: new Map() };

const SKILL_FILE = 'SKILL.md';
const BESIDE_BODY_BYTES = SKILL.bodyBytes + 2 * SKILL.frontMatterBytes;

/**
 * Every skill below `directories`, read from disk (design section 7): accepted, accepted with warnings, or rejected with file,
 * line and reason. One that is bad, however it is bad, never stops the others; nothing outside its folder is read.
 */
export function loadSkills(options: LoadOptions): LoadedSkills {
  const found = options.directories.flatMap((directory) => skillFolders(resolve(options.root, directory)));
  const settings = { ...options, toolNames: new Set(options.tools.flatMap(({ name, aliases }) => [name, ...aliases])) };
  const outcomes = found.map(({ folder, link }) => outcomeOf(folder, link, settings));
  const catalogue = buildCatalogue(
    outcomes.map(({ outcome }) => outcome),
    options,
  );
  const accepted = new Set(catalogue.skills.map(({ file }) => file));
  const folders = outcomes.flatMap(({ outcome: { name, file }, folder }): [string, string][] =>
    name !== undefined && accepted.has(file) ? [[name, folder]] : [],
  );
  return { catalogue, folders: new Map(folders) };
}

interface Found {
  readonly folder: string;
  readonly link: boolean;
}

/** Folders that hold a SKILL.md, in any spelling of that, in order of name. Others are no skills. */
function skillFolders(directory: string): Found[] {
  if (!existsSync(directory)) return [];
  const entries = entriesOf(directory).sort((a, b) => (a.name < b.name ? -1 : 1));
  return entries.flatMap((entry): Found[] => {
    const folder = join(directory, entry.name);
    if (entry.name.startsWith('.')) return [];
    if (entry.isSymbolicLink()) return existsSync(join(folder, SKILL_FILE)) ? [{ folder, link: true }] : [];
    return entry.isDirectory() && skillFileIn(folder) !== undefined ? [{ folder, link: false }] : [];
  });
}

function entriesOf(directory: string): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch (cause) {
    const why = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
    throw new HandrailError('BAD_REQUEST', `${directory} is no directory of skills that can be read (${why})`, {
      field: 'skills.directories',
      cause,
    });
  }
}

/** One that cannot be looked into is rejected when it is read, and stops no other. */
function skillFileIn(folder: string): string | undefined {
  const names = namesIn(folder);
  return names.includes(SKILL_FILE) ? SKILL_FILE : names.find((name) => name.toLowerCase() === SKILL_FILE.toLowerCase());
}

type ReadOptions = SkillSettings & Pick<LoadOptions, 'root'>;

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [SKILL_FILE];
  }
}

function outcomeOf(folder: string, link: boolean, options: ReadOptions): { readonly outcome: SkillOutcome; readonly folder: string } {
  const name = link ? SKILL_FILE : (skillFileIn(folder) ?? SKILL_FILE);
  const file = relative(options.root, join(folder, name)).replaceAll('\\', '/');
  const rejected = (line: number, reason: string): SkillOutcome => ({
    file,
    name: undefined,
    skill: undefined,
    problems: [{ file, line, reason }],
    warnings: [],
    lineOf: () => line,
  });
  if (link) return { outcome: rejected(1, 'the folder is a link; name what it points at in "skills.directories"'), folder };
  try {
    return { outcome: readFolder(folder, name, file, options, rejected), folder };
  } catch (error) {
    // Whatever a hostile text may find in a parser: the others go on.
    const line = error instanceof HandrailError ? Number(error.extra['line'] ?? 1) : 1;
    return { outcome: rejected(line, error instanceof Error ? error.message.slice(0, 300) : 'cannot be read'), folder };
  }
}

function readFolder(
  folder: string,
  name: string,
  file: string,
  options: ReadOptions,
  rejected: (line: number, reason: string) => SkillOutcome,
): SkillOutcome {
  const read = readTextFile(join(folder, name), BESIDE_BODY_BYTES);
  if ('problem' in read) return rejected(1, `the file ${read.problem}`);
  const split: SplitSkill = splitSkill(read.text);
  const { files, notes } = listFolder(folder, name);
  const place = (line: number, reason: string) => ({ file, line, reason });
  const warnings = [
    ...(name === SKILL_FILE ? [] : [place(1, `the file is called ${name}; other programs look for ${SKILL_FILE}`)]),
    ...split.warnings.map(({ line, reason }) => place(line, reason)),
    ...notes.map((note) => place(1, note)),
  ];
  return readSkill({ file, directory: basename(folder), frontMatter: split.frontMatter, body: split.body, files, warnings }, options);
}
