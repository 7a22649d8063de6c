import { isJsonObject, type Json, type JsonObject } from '../json.ts';
import { kindOf } from './name.ts';
import type { Notes } from './notes.ts';
import { filePath } from './place.ts';
import type { SkillFile, SkillProblem, TreeSkill } from './skill.ts';

/** A skill that another one brings in, and where it says so. */
export interface SkillCall {
  readonly skill: string;
  readonly file: string;
  readonly line: number;
  readonly field: string;
}

/** What is wrong with a tree, with file and line, and the skills that it calls. `file`: as people are told of it. */
export type CheckTree = (
  tree: TreeSkill['tree'],
  file: string,
) => { readonly problems: readonly SkillProblem[]; readonly calls: readonly SkillCall[] };

const DEFAULT_FILE = 'tree.yaml';
const DEFAULT_RESULT_KEY = 'skill_result';

/** `execution: bt`, or a tree is named (seed 000). */
export const isTreeSkill = (data: JsonObject): boolean => data['execution'] === 'bt' || Object.hasOwn(data, 'tree');

/** The tree of a tree skill: its text, inputs and outputs (design section 8). Undefined after problems were noted. */
export function readTree(data: JsonObject, files: readonly SkillFile[], notes: Notes): Pick<TreeSkill, 'kind' | 'tree'> | undefined {
  const before = notes.problems.length;
  const file = filePath(data['tree'] ?? DEFAULT_FILE, 'tree', files, notes);
  const text = files.find(({ path }) => path === file)?.text;
  if (file !== undefined && text === undefined) notes.problem(['tree'], `"${file}" is too large, or is not text`);
  const inputs = readMap(data['inputs'], 'inputs', notes);
  const outputs = readMap(data['outputs'], 'outputs', notes);
  const resultKey = data['skill_result_key'] ?? DEFAULT_RESULT_KEY;
  if (typeof resultKey !== 'string' || !/^[A-Za-z_]\w{0,63}$/.test(resultKey))
    notes.problem(['skill_result_key'], 'must be a key of the state: a letter, then letters, digits and _');
  if (notes.problems.length > before || file === undefined || text === undefined) return undefined;
  const tree: TreeSkill['tree'] = { file, text, inputs: inputs ?? {}, ...(outputs ? { outputs } : {}), resultKey: String(resultKey) };
  return { kind: 'tree', tree };
}

function readMap(value: Json | undefined, key: string, notes: Notes): JsonObject | undefined {
  if (value === undefined || value === null) return undefined;
  if (isJsonObject(value)) return value;
  notes.problem([key], `must be a map, not ${kindOf(value)}`);
  return undefined;
}
