import * as z from 'zod';
import { HandrailError } from '../errors.ts';
import { knownToolProblem, type NamedTool, ruleNameProblem } from '../guard/named-tools.ts';
import { nearestName, unknownName } from '../hands/nearest-name.ts';
import { TREE } from '../limits.ts';
import type { NodeDefinition } from './node.ts';
import { composites, decorators, definitionOf, leaves, nodeTypes, type TreeNode } from './nodes/index.ts';
import { segmentOf, type Tree } from './places.ts';

export type { TreeNode } from './nodes/index.ts';
export { nodePaths, type Tree } from './places.ts';

type FieldPath = readonly (string | number)[];

/** What a deployment has, so that a name that leads nowhere is found when the tree is read. Absent lists are not checked. */
export interface KnownNames {
  readonly tools?: readonly NamedTool[];
  readonly agents?: readonly string[];
  readonly skills?: readonly string[];
}

export interface TreeProblem {
  readonly path: FieldPath;
  readonly message: string;
}

/** More are not told: the first ones are mended first. */
const SHOWN = 50;
const compositeFields = z.union(composites.map(({ fields }) => fields));
const decoratorFields = z.union(decorators.map(({ fields }) => fields));
const leafFields = z.union(leaves.map(({ fields }) => fields));

/** Everything wrong with a tree, or the tree with defaults filled in. `value`: data such as a parsed tree.yaml, `{ root: <node> }`. */
export function checkTree(
  value: unknown,
  names: KnownNames = {},
): { readonly ok: true; readonly tree: Tree } | { readonly ok: false; readonly problems: readonly TreeProblem[] } {
  const reader = new Reader(names);
  const tree = reader.tree(value);
  return tree !== undefined && reader.problems.length === 0 ? { ok: true, tree } : { ok: false, problems: reader.problems };
}

/**
 * The same, throwing BAD_REQUEST with a line for each problem, `<file>:<line>: <field>: <what is wrong, what is expected>`
 * (design section 8). `lineOf`: where a field stands, from 1.
 */
export function parseTree(value: unknown, file: string, lineOf: (path: FieldPath) => number | undefined, names: KnownNames = {}): Tree {
  const checked = checkTree(value, names);
  if (checked.ok) return checked.tree;
  const lines = checked.problems.map((problem) => `${file}:${lineOf(problem.path) ?? 1}: ${describeProblem(problem)}`);
  const first = checked.problems[0]?.path ?? [];
  throw new HandrailError('BAD_REQUEST', lines.join('\n'), { field: first.join('.'), extra: { line: lineOf(first) ?? 1 } });
}

/** `<field>: <what is wrong, what is expected>`. */
export function describeProblem({ path, message }: TreeProblem): string {
  return path.length > 0 ? `${path.join('.')}: ${message}` : message;
}

/** Where a node stands while it is read: its field, its path in the tree, nodes above it, attempts that retries above it allow. */
interface Position {
  readonly field: FieldPath;
  readonly above: string;
  readonly index: number | undefined;
  readonly depth: number;
  readonly attempts: number;
}

type Mapping = Record<string, unknown>;

class Reader {
  readonly problems: TreeProblem[] = [];
  readonly #names: KnownNames;
  readonly #used = new Map<string, FieldPath>();
  #nodes = 0;

  constructor(names: KnownNames) {
    this.#names = names;
  }

  tree(value: unknown): Tree | undefined {
    if (!isMapping(value)) return this.#problem([], `expected a mapping with \`root\`, found ${kindOf(value)}`);
    for (const key of Object.keys(value).slice(0, SHOWN))
      if (key !== 'root') this.#problem([key], 'there is no such field; expected only `root`');
    if (!Object.hasOwn(value, 'root')) return this.#problem([], 'expected `root`: the node at the top of the tree');
    const root = this.#node(value['root'], { field: ['root'], above: '', index: undefined, depth: 1, attempts: 1 });
    return root === undefined ? undefined : { root };
  }

  #problem(path: FieldPath, message: string): undefined {
    if (this.problems.length < SHOWN) this.problems.push({ path, message });
  }

  #node(value: unknown, at: Position): TreeNode | undefined {
    this.#nodes += 1;
    if (this.#nodes > TREE.nodes)
      return this.#nodes === TREE.nodes + 1 ? this.#problem(at.field, `too many nodes: expected at most ${TREE.nodes}`) : undefined;
    if (at.depth > TREE.depth) return this.#problem(at.field, `nested too deep: expected at most ${TREE.depth} nodes, one in another`);
    if (!isMapping(value)) return this.#problem(at.field, `expected a node (a mapping with \`type\`), found ${kindOf(value)}`);
    const definition = this.#definition(value, at.field);
    if (definition === undefined) return undefined;
    const path = this.#path(value, definition.type, at);
    const { type } = definition;
    const below = { field: at.field, above: path, depth: at.depth + 1, attempts: at.attempts * this.#attempts(value, type, at) };
    if (composites.some((known) => known.type === type)) {
      const own = this.#fields(definition, value, 'children', at.field);
      const children = this.#children(value, below);
      const fields = compositeFields.safeParse(own);
      return children && fields.success ? { ...fields.data, children } : undefined;
    }
    if (decorators.some((known) => known.type === type)) {
      const own = this.#fields(definition, value, 'child', at.field);
      const child = this.#child(value, below);
      const fields = decoratorFields.safeParse(own);
      return child && fields.success ? { ...fields.data, child } : undefined;
    }
    const fields = leafFields.safeParse(this.#fields(definition, value, undefined, at.field));
    if (fields.success) this.#checkNames(fields.data, at.field);
    return fields.success ? fields.data : undefined;
  }

  #definition(value: Mapping, field: FieldPath): NodeDefinition | undefined {
    const type: unknown = Object.hasOwn(value, 'type') ? value['type'] : undefined;
    const definition = typeof type === 'string' ? definitionOf(type) : undefined;
    if (definition) return definition;
    const expected = `expected one of ${nodeTypes.join(', ')}`;
    if (type === undefined) return this.#problem(field, `a node without \`type\`: ${expected}`);
    if (typeof type !== 'string') return this.#problem([...field, 'type'], `${expected}; found ${kindOf(type)}`);
    const nearest = nearestName(type, nodeTypes);
    const meant = nearest === undefined ? '' : `; did you mean "${nearest}"?`;
    return this.#problem([...field, 'type'], `there is no node type ${JSON.stringify(type.slice(0, 80))}: ${expected}${meant}`);
  }

  /** The node's path in the tree, checked to be its own. */
  #path(value: Mapping, type: string, { field, above, index }: Position): string {
    const name = typeof value['name'] === 'string' ? value['name'].slice(0, 80) : undefined;
    const segment = segmentOf({ type, name }, index);
    const path = above === '' ? segment : `${above}/${segment}`;
    if (path.length > TREE.pathCharacters)
      this.#problem(field, `its path is too long: expected at most ${TREE.pathCharacters} characters; use shorter names or nest less`);
    for (const key of name === undefined ? [`path ${path}`] : [`name ${name}`, `path ${path}`]) {
      const first = this.#used.get(key);
      if (first) {
        this.#problem(
          name === undefined ? field : [...field, 'name'],
          `duplicate name "${segment}": ${first.join('.')} has it already; expected another`,
        );
        break;
      }
      this.#used.set(key, field);
    }
    return path;
  }

  /** Retries around a node multiply: bounded, so that no tick goes on for long. */
  #attempts(value: Mapping, type: string, at: Position): number {
    const attempts =
      type === 'retry' && typeof value['attempts'] === 'number' ? Math.min(Math.max(value['attempts'], 1), TREE.attempts) : 1;
    if (at.attempts <= TREE.allAttempts && at.attempts * attempts > TREE.allAttempts)
      this.#problem([...at.field, 'attempts'], `retries in one another multiply: expected at most ${TREE.allAttempts} attempts in all`);
    return attempts;
  }

  /** The node's own fields, checked. What is wrong is told; what is returned is for the union's schema. */
  #fields(definition: NodeDefinition, value: Mapping, childField: 'children' | 'child' | undefined, field: FieldPath): unknown {
    const own = Object.fromEntries(Object.entries(value).filter(([key]) => key !== childField));
    const parsed = definition.fields.safeParse(own);
    if (parsed.success) {
      const wrong = definition.check?.(parsed.data);
      if (wrong !== undefined) this.#problem(field, wrong);
      return own;
    }
    const known = [...Object.keys(definition.fields.shape), ...(childField === undefined ? [] : [childField])];
    for (const issue of parsed.error.issues) {
      if (issue.code !== 'unrecognized_keys') this.#problem([...field, ...issue.path.map(plainKey)], messageOf(issue));
      else
        for (const key of issue.keys.slice(0, SHOWN)) {
          const nested = issue.path.map(plainKey);
          const expected = nested.length > 0 ? 'there is no such field' : unknownField(key, definition.type, known);
          this.#problem([...field, ...nested, key], expected);
        }
    }
    return undefined;
  }

  #children(value: Mapping, below: Omit<Position, 'index'>): TreeNode[] | undefined {
    const children: unknown = Object.hasOwn(value, 'children') ? value['children'] : undefined;
    if (!Array.isArray(children) || children.length === 0) {
      const found = Array.isArray(children) ? 'an empty list' : kindOf(children);
      return this.#problem(
        [...below.field, ...(children === undefined ? [] : ['children'])],
        `expected \`children\`: a list of at least one node; found ${found}`,
      );
    }
    const nodes: TreeNode[] = [];
    for (const [index, child] of children.entries()) {
      if (this.#nodes > TREE.nodes) return undefined;
      const node = this.#node(child, { ...below, field: [...below.field, 'children', index], index });
      if (node) nodes.push(node);
    }
    return nodes;
  }

  #child(value: Mapping, below: Omit<Position, 'index'>): TreeNode | undefined {
    if (!Object.hasOwn(value, 'child')) return this.#problem(below.field, 'expected `child`: the node it is for');
    return this.#node(value['child'], { ...below, field: [...below.field, 'child'], index: undefined });
  }

  #checkNames(node: z.infer<typeof leafFields>, field: FieldPath): void {
    const { tools } = this.#names;
    if (node.type === 'tool') this.#refuse(tools && knownToolProblem(node.tool, tools), [...field, 'tool']);
    if (node.type !== 'agent') return;
    if (node.agent !== undefined) this.#known('agent', node.agent, this.#names.agents, [...field, 'agent']);
    for (const [index, skill] of (node.skills ?? []).entries())
      this.#known('skill', skill, this.#names.skills, [...field, 'skills', index]);
    for (const key of Object.keys(node.constraints?.guard?.tool_policy ?? {}))
      this.#refuse(tools && ruleNameProblem(key, tools), [...field, 'constraints', 'guard', 'tool_policy', key]);
  }

  #refuse(problem: string | undefined, path: FieldPath): void {
    if (problem !== undefined) this.#problem(path, problem);
  }

  #known(what: string, name: string, known: readonly string[] | undefined, path: FieldPath): void {
    this.#refuse(known === undefined || known.includes(name) ? undefined : unknownName(what, name, known), path);
  }
}

function unknownField(key: string, type: string, known: readonly string[]): string {
  const names = known.filter((name) => name !== 'type');
  const other = key === 'children' ? 'child' : key === 'child' ? 'children' : undefined;
  const nearest = names.find((name) => name === other) ?? nearestName(key, names);
  const meant = nearest === undefined ? '' : `; did you mean "${nearest}"?`;
  return `${type} nodes have no such field: expected ${names.join(', ')}${meant}`;
}

function messageOf({ message }: z.core.$ZodIssue): string {
  return message.replace(/^Invalid (?:input|option|string|value): /, '');
}

function plainKey(key: PropertyKey): string | number {
  return typeof key === 'symbol' ? key.toString() : key;
}

function isMapping(value: unknown): value is Mapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function kindOf(value: unknown): string {
  if (value === undefined || value === null) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'a mapping' : `${typeof value === 'string' ? 'text' : `a ${typeof value}`}`;
}
