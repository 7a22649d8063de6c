import { basename } from 'node:path';
import { type Document, LineCounter, parseDocument } from 'yaml';
import { offsetOf } from '../adapters/yaml-offset.ts';
import { type Config, configSchema } from '../core/config.ts';
import { type ConfigProblem, danglingModels } from '../core/config-names.ts';
import { HandrailError } from '../core/errors.ts';
import { type Fault, faultsOf, inWords } from '../core/faults.ts';
import { costLimitPath, modelIdOf, unpriced } from '../core/guard/prices.ts';

/** Text of a file, or undefined when there is none. */
export type ReadTextFile = (path: string) => string | undefined;

type Path = readonly PropertyKey[];

interface Problem {
  readonly line: number;
  readonly field: string;
  readonly message: string;
}

/** A field as people are told of it: `<file>:<line>: <field>`. */
export type Place = (path: Path) => string;

export interface ConfigFile {
  readonly config: Config;
  readonly place: Place;
}

/** A configuration file is written by hand; beyond this it is something else. */
const MAX_CHARACTERS = 256 * 1024;

/**
 * The configuration at `path`, checked, with defaults filled in; the defaults alone when there is no such file. `script`
 * of a scripted model stays as written: relative to the file. Throws a HandrailError BAD_REQUEST with one line per
 * problem, `<file>:<line>: <field>: <what is wrong>`, and the first field as `field`. Design section 11.
 */
export function loadConfig(path: string, readFile: ReadTextFile): Config {
  return readConfig(path, readFile).config;
}

/** The same, with the places of its fields: for what can be judged only once more than the file is known. */
export function readConfig(path: string, readFile: ReadTextFile): ConfigFile {
  const text = readFile(path);
  return text === undefined ? { config: configSchema.parse({}), place: fieldName } : readText(text, basename(path));
}

/** The configuration in `text` (YAML or JSON). `file` is its name in messages. Throws as `loadConfig` does. */
export function parseConfig(text: string, file: string): Config {
  return readText(text, file).config;
}

/** BAD_REQUEST with a line for each problem that was found in a configuration; undefined when there is none. */
export function configError(problems: readonly ConfigProblem[], place: Place = fieldName): HandrailError | undefined {
  const [first] = problems;
  if (first === undefined) return undefined;
  const lines = problems.map(({ path, message }) => `${place(path)}: ${message}`);
  return new HandrailError('BAD_REQUEST', lines.join('\n'), { field: fieldName(first.path) });
}

/** What `work` throws because of a value in the configuration, with the place of that value. */
export function atField<T>(path: Path, place: Place = fieldName, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof HandrailError) || error.code === 'INTERNAL') throw error;
    throw new HandrailError(error.code, `${place(path)}: ${error.message}`, { field: fieldName(path), cause: error });
  }
}

function readText(text: string, file: string): ConfigFile {
  if (text.length > MAX_CHARACTERS) throw failure(file, [{ line: 1, field: '', message: `longer than ${MAX_CHARACTERS} characters` }]);
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, schema: 'core', merge: false, uniqueKeys: true, strict: true });
  const complaints = [...document.errors, ...document.warnings];
  if (complaints.length > 0) {
    throw failure(
      file,
      complaints.map((complaint) => ({ line: lines.linePos(complaint.pos[0]).line, field: '', message: firstLine(complaint.message) })),
    );
  }
  const parsed = configSchema.safeParse(toPlain(document, file), { error: inWords });
  const at = (path: Path) => lines.linePos(offsetOf(document, path)).line;
  if (!parsed.success)
    throw failure(
      file,
      faultsOf(parsed.error.issues).map((fault) => problemOf(fault, at)),
    );
  const dangling = [...danglingModels(parsed.data), ...unpricedBudgets(parsed.data)];
  if (dangling.length > 0)
    throw failure(
      file,
      dangling.map(({ path, message }) => ({ line: at(path), field: fieldName(path), message })),
    );
  return { config: parsed.data, place: (path) => `${file}:${at(path)}: ${fieldName(path)}` };
}

/** Aliases are refused, so that a small file cannot grow into a large one. */
function toPlain(document: Document.Parsed, file: string): unknown {
  try {
    return document.toJS({ maxAliasCount: 0 }) ?? {};
  } catch (error) {
    throw failure(file, [
      { line: 1, field: '', message: `aliases are not allowed (${error instanceof Error ? error.message : String(error)})` },
    ]);
  }
}

function problemOf({ path, message, unknownKey }: Fault, at: (path: Path) => number): Problem {
  return { line: at(path), field: fieldName(path), message: unknownKey ? 'there is no such setting' : message };
}

function unpricedBudgets(config: Config): ConfigProblem[] {
  return Object.entries(config.agents).flatMap(([name, agent]) => {
    const path = costLimitPath(config, name);
    const message = unpriced(config, modelIdOf(config, agent));
    return path && message !== undefined ? [{ path, message }] : [];
  });
}

function fieldName(path: Path): string {
  return path.map(String).join('.');
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? text;
}

function failure(file: string, problems: readonly Problem[]): HandrailError {
  const text = problems.map(({ line, field, message }) => `${file}:${line}: ${field === '' ? '' : `${field}: `}${message}`).join('\n');
  const field = problems.find((problem) => problem.field !== '')?.field;
  return new HandrailError('BAD_REQUEST', text, { ...(field === undefined ? {} : { field }), extra: { line: problems[0]?.line ?? 1 } });
}
