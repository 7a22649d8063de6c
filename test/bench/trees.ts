import { readTree } from '../../lib/adapters/skills/tree-file.ts';
import { compareTrees } from '../support/compare-trees.ts';
import { LoopRig } from '../support/loop-rig.ts';

/** Random trees run by ticks and by a naive interpreter: same status, blackboard and order of calls (target: 1,000 or more, 0). */
export function measureTrees(): { readonly comparedTrees: number; readonly mismatches: number } {
  const { comparedTrees, mismatches } = compareTrees(2_000, 20_260);
  return { comparedTrees, mismatches };
}

const TOOL_NODES = 5;

/** Transitions that a tool node of a tree takes, counted as AWS bills them (target: 4 or less; control nodes take none). */
export async function measureToolNodes(): Promise<number> {
  const nodes = Array.from({ length: TOOL_NODES }, () => '{ type: tool, tool: look }').join(', ');
  const tree = readTree(`root: { type: sequence, children: [ { type: set, key: a, value: 1 }, ${nodes} ] }`, 'tree.yaml');
  const skill = {
    name: 'bench',
    description: 'A procedure.',
    tree,
    inputs: undefined,
    outputs: undefined,
    resultKey: 'a',
    constraints: undefined,
  };
  const rig = new LoopRig({ trees: [skill], turns: [] });
  await rig.run('bench', { tree: { skill: 'bench', inputs: {} } });
  // The last pass, which finds that the tree is done, is Reason, Route, Finish.
  return (rig.states.length - 3) / TOOL_NODES;
}
