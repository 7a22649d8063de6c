import { type Document, isMap, isScalar, isSeq, Lexer, LineCounter, parseDocument } from 'yaml';
import { HandrailError } from '../../core/errors.ts';
import { TREE } from '../../core/limits.ts';
import { callsOf } from '../../core/loop/tree-calls.ts';
import type { SkillProblem } from '../../core/skills/skill.ts';
import type { CheckTree } from '../../core/skills/tree.ts';
import { declarationProblem } from '../../core/trees/inputs.ts';
import { checkTree, describeProblem, type KnownNames, type Tree } from '../../core/trees/tree.ts';
import { offsetOf } from '../yaml-offset.ts';

type LineOf = (path: FieldPath) => number;
type Reading =
  | { readonly ok: true; readonly tree: Tree; readonly lineOf: LineOf }
  | { readonly ok: false; readonly problems: readonly SkillProblem[] };

/**
 * The tree in the text of a tree.yaml (design section 8), or what is wrong with it, with lines. `file` is its name in messages.
 * YAML 1.2 core: no tags, no aliases, no merge keys, no duplicate keys. Never throws.
 */
export function checkTreeFile(text: string, file: string, names: KnownNames = {}): Reading {
  try {
    const { value, lineOf } = readYaml(text);
    const checked = checkTree(value, names);
    if (checked.ok) return { ...checked, lineOf };
    const problems = checked.problems.map((problem) => ({ file, line: lineOf(problem.path), reason: describeProblem(problem) }));
    return { ok: false, problems: problems.toSorted((a, b) => a.line - b.line) };
  } catch (error) {
    if (!(error instanceof NotReadable)) throw error;
    return { ok: false, problems: [{ file, line: error.line, reason: error.message }] };
  }
}

/** The same, throwing BAD_REQUEST with a line per problem: `<file>:<line>: <field>: <what is wrong, what is expected>`. */
export function readTree(text: string, file: string, names: KnownNames = {}): Tree {
  const reading = checkTreeFile(text, file, names);
  if (reading.ok) return reading.tree;
  const lines = reading.problems.map((problem) => `${problem.file}:${problem.line}: ${problem.reason}`);
  throw new HandrailError('BAD_REQUEST', lines.join('\n'), { extra: { line: reading.problems[0]?.line ?? 1 } });
}

/**
 * For the loader of skills: what is wrong with a tree skill's tree, inputs and outputs, and the skills it calls. `names`: what the
 * deployment has; `agentSkills`: what an agent of its configuration brings along.
 */
export function treeChecker(names: KnownNames, agentSkills: (agent: string) => readonly string[] = () => []): CheckTree {
  return ({ text, inputs, outputs }, file) => {
    const reading = checkTreeFile(text, file, names);
    const declarations = [declarationProblem('inputs', inputs), outputs && declarationProblem('outputs', outputs)];
    const skillFile = file.replace(/[^/]*$/, 'SKILL.md');
    const undeclarable = declarations.flatMap((reason) => (reason === undefined ? [] : [{ file: skillFile, line: 1, reason }]));
    if (!reading.ok) return { problems: [...reading.problems, ...undeclarable], calls: [] };
    const calls = callsOf(reading.tree, inputs, agentSkills).map(({ skill, path }) => ({
      skill,
      file,
      line: reading.lineOf(path),
      field: path.join('.'),
    }));
    return { problems: undeclarable, calls };
  };
}

/** Where reading stopped, and why. */
class NotReadable extends Error {
  readonly line: number;
  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}

type FieldPath = readonly (string | number)[];

/** Brackets in one another. A tree of 64 nodes needs two for each. */
const FLOW_DEPTH = 4 * TREE.depth;

function readYaml(text: string): { readonly value: unknown; readonly lineOf: (path: FieldPath) => number } {
  if (text.length > TREE.fileCharacters) throw new NotReadable(1, `longer than ${TREE.fileCharacters} characters`);
  refuseDeepBrackets(text);
  const counter = new LineCounter();
  const lineAt = (offset: number): number => Math.max(1, counter.linePos(offset).line);
  // Duplicate keys are found below, in linear time; the parser compares each with each.
  const document = parseDocument(text, {
    lineCounter: counter,
    schema: 'core',
    merge: false,
    uniqueKeys: false,
    strict: true,
    prettyErrors: false,
  });
  const [complaint] = [...document.errors, ...document.warnings];
  if (complaint) {
    const message = complaint.message.split('\n', 1)[0] ?? 'not YAML';
    throw new NotReadable(lineAt(complaint.pos[0]), message.startsWith('Maximum call stack') ? 'nested too deep' : message);
  }
  refuseDuplicates(document, lineAt);
  return { value: toPlain(document), lineOf: (path) => lineAt(offsetOf(document, path)) };
}

/** The parser calls itself for each bracket, and takes long to notice that it cannot. */
function refuseDeepBrackets(text: string): void {
  let depth = 0;
  let line = 1;
  for (const token of new Lexer().lex(text)) {
    if (token === '{' || token === '[') depth += 1;
    else if (token === '}' || token === ']') depth -= 1;
    else if (token === '\n') line += 1;
    if (depth > FLOW_DEPTH) throw new NotReadable(line, `brackets nested deeper than ${FLOW_DEPTH} levels`);
  }
}

function refuseDuplicates(document: Document.Parsed, lineAt: (offset: number) => number): void {
  const left: unknown[] = [document.contents];
  while (left.length > 0) {
    const node = left.pop();
    if (isSeq(node)) for (const item of node.items) left.push(item);
    if (!isMap(node)) continue;
    const keys = new Set<string>();
    for (const { key, value } of node.items) {
      left.push(value);
      if (!isScalar(key))
        throw new NotReadable(lineAt(node.range?.[0] ?? 0), 'expected keys that are words; found one that is a list or a mapping');
      const name = String(key.value);
      if (keys.has(name)) throw new NotReadable(lineAt(key.range?.[0] ?? 0), `the key "${name.slice(0, 80)}" is there twice`);
      keys.add(name);
    }
  }
}

/** Aliases are refused: with them a small file can become a large tree, or one that holds itself. */
function toPlain(document: Document.Parsed): unknown {
  try {
    return document.toJS({ maxAliasCount: 0 });
  } catch (error) {
    if (error instanceof RangeError) throw new NotReadable(1, 'nested too deep');
    throw new NotReadable(
      1,
      `aliases are not read: write the node out wherever it is needed (${error instanceof Error ? error.message : String(error)})`,
    );
  }
}
