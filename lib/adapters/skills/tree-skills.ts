import type { TreeSkill } from '../../core/loop/deps.ts';
import type { SkillCatalogue } from '../../core/skills/skill.ts';
import { readTree } from './tree-file.ts';

/** The tree skills of a catalogue as the loop runs them, by name. Each tree was checked when its skill was accepted. */
export function treeSkillsOf(catalogue: SkillCatalogue): ReadonlyMap<string, TreeSkill> {
  return new Map(
    catalogue.skills.flatMap((skill): [string, TreeSkill][] => {
      if (skill.kind !== 'tree') return [];
      const { name, description, constraints, tree } = skill;
      return [
        [
          name,
          {
            name,
            description,
            constraints,
            inputs: tree.inputs,
            outputs: tree.outputs,
            resultKey: tree.resultKey,
            tree: readTree(tree.text, tree.file),
          },
        ],
      ];
    }),
  );
}
