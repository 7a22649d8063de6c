import { isJsonObject, type Json, type JsonObject } from '../json.ts';
import { readKey } from '../trees/blackboard.ts';
import { declaredSchema } from '../trees/inputs.ts';
import type { TreeNode } from '../trees/nodes/index.ts';
import type { Tree } from '../trees/places.ts';
import { RUN_BT_SKILL } from './built-ins/run-bt-skill.ts';

/** A skill that a tree can bring in, and the field of the tree that says so. */
export interface TreeCall {
  readonly skill: string;
  readonly path: readonly (string | number)[];
}

/**
 * The skills that can be told from a tree alone: those of its agent nodes, and those that its tool nodes run with a name that
 * the tree itself wrote or declares as a default. `agentSkills`: what an agent of the configuration brings along.
 */
export function callsOf(tree: Tree, inputs: JsonObject, agentSkills: (agent: string) => readonly string[]): TreeCall[] {
  const places = fieldsUnder(tree.root, ['root']);
  const constants = [
    ...declaredDefaults(inputs),
    ...places.flatMap(({ node }) => (node.type === 'set' ? [{ [node.key]: node.value }] : [])),
  ];
  return places.flatMap(({ node, path }): TreeCall[] => {
    if (node.type === 'agent') {
      const own = (node.skills ?? []).map((skill, index) => ({ skill, path: [...path, 'skills', index] }));
      const configured = node.agent === undefined ? [] : agentSkills(node.agent);
      return [...own, ...configured.map((skill) => ({ skill, path: [...path, 'agent'] }))];
    }
    if (node.type !== 'tool' || node.tool !== RUN_BT_SKILL || !node.execute || node.input_key === undefined) return [];
    const key = node.input_key;
    return constants.flatMap((constant) => {
      const skill = skillIn(readKey(constant, key));
      return skill === undefined ? [] : [{ skill, path: [...path, 'input_key'] }];
    });
  });
}

/** A name that is put together at run time is no name of a skill, and is not taken for one. */
function skillIn(value: Json | undefined): string | undefined {
  const skill = isJsonObject(value) ? value['skill'] : undefined;
  return typeof skill === 'string' && !skill.includes('{{') ? skill : undefined;
}

function declaredDefaults(inputs: JsonObject): JsonObject[] {
  const { properties } = declaredSchema(inputs);
  if (!isJsonObject(properties)) return [];
  return Object.entries(properties).flatMap(([name, property]) =>
    isJsonObject(property) && property['default'] !== undefined ? [{ [name]: property['default'] }] : [],
  );
}

interface FieldOfNode {
  readonly node: TreeNode;
  readonly path: TreeCall['path'];
}

function fieldsUnder(node: TreeNode, path: TreeCall['path']): FieldOfNode[] {
  const below =
    'children' in node
      ? node.children.flatMap((child, index) => fieldsUnder(child, [...path, 'children', index]))
      : 'child' in node
        ? fieldsUnder(node.child, [...path, 'child'])
        : [];
  return [{ node, path }, ...below];
}
