import { readTree } from '../../lib/adapters/skills/tree-file.ts';
import type { TreeSkill } from '../../lib/core/loop/deps.ts';

/** A tree skill of a `tree.yaml`, given as its text. */
export function treeSkill(name: string, yaml: string, more: Partial<TreeSkill> = {}): TreeSkill {
  return {
    name,
    description: 'A procedure.',
    tree: readTree(yaml, 'tree.yaml'),
    inputs: undefined,
    outputs: undefined,
    resultKey: 'skill_result',
    constraints: undefined,
    ...more,
  };
}
