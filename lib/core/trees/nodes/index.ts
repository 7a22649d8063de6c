import type * as z from 'zod';
import type { NodeDefinition } from '../node.ts';
import { agent } from './agent.ts';
import { approval } from './approval.ts';
import { condition } from './condition.ts';
import { inverter } from './inverter.ts';
import { llm } from './llm.ts';
import { parallel } from './parallel.ts';
import { retry } from './retry.ts';
import { selector } from './selector.ts';
import { sequence } from './sequence.ts';
import { set } from './set.ts';
import { timeout } from './timeout.ts';
import { tool } from './tool.ts';

/** Every kind of node, by what it may have below it: `children`, one `child`, or nothing. */
export const composites = [sequence, selector, parallel];
export const decorators = [approval, retry, timeout, inverter];
export const leaves = [tool, llm, agent, condition, set];

type FieldsOf<Definitions extends readonly NodeDefinition[]> =
  Definitions[number] extends NodeDefinition<infer Fields> ? z.infer<Fields> : never;

/** A node of a tree, told apart by `type` (design section 8). */
export type TreeNode =
  | FieldsOf<typeof leaves>
  | (FieldsOf<typeof composites> & { readonly children: readonly TreeNode[] })
  | (FieldsOf<typeof decorators> & { readonly child: TreeNode });

const definitions: ReadonlyMap<string, NodeDefinition> = new Map(
  [...composites, ...decorators, ...leaves].map((definition): [string, NodeDefinition] => [definition.type, definition]),
);

export const nodeTypes: readonly string[] = [...definitions.keys()];

/** The definition of a type; undefined when there is no such type. */
export function definitionOf(type: string): NodeDefinition | undefined {
  return definitions.get(type);
}
