import { utf8Bytes } from '../json.ts';
import type { Skill, TreeSkill } from './skill.ts';

export interface PromptBudget {
  /** Bytes that the chosen skills' bodies may take together. */
  readonly promptBytes: number;
  /** Bytes of the list of the others. */
  readonly listBytes: number;
}

export interface SkillPrompt {
  readonly text: string;
  /** Chosen skills whose body did not fit. */
  readonly left: readonly string[];
}

/**
 * An agent's system prompt with its skills (design section 7, seed 000): bodies of the chosen ones as far as the budget goes, in
 * the order of choice; the others by name and description. What did not fit is named, with how to get at it. Pure.
 */
export function promptWithSkills(
  system: string,
  { chosen, others, trees }: { readonly chosen: readonly Skill[]; readonly others: readonly Skill[]; readonly trees: readonly TreeSkill[] },
  budget: PromptBudget,
): SkillPrompt {
  const parts = [system];
  const left: string[] = [];
  let room = budget.promptBytes;
  for (const skill of chosen) {
    const part = bodyOf(skill);
    const bytes = utf8Bytes(part);
    if (bytes <= room) {
      parts.push(part);
      room -= bytes;
    } else {
      left.push(skill.name);
      const what = `# Skill: ${skill.name}\n\n${skill.description}\n\n`;
      parts.push(`${what}(Its instructions, ${bytes} bytes, did not fit in here. Read them with load_skill before you do what it is for.)`);
    }
  }
  if (others.length > 0) parts.push(listOf(OTHERS_HEAD, others, budget.listBytes, ({ name, description }) => `- ${name}: ${description}`));
  if (trees.length > 0) parts.push(listOf(TREES_HEAD, trees, budget.listBytes, treeLine));
  return { text: parts.join('\n\n'), left };
}

function bodyOf(skill: Skill): string {
  const files = skill.files.filter(({ path, text }) => text !== undefined && !isCode(skill, path));
  const note = files.length > 0 ? `\n\nFiles of this skill, to be read with load_skill: ${files.map(({ path }) => path).join(', ')}` : '';
  return `# Skill: ${skill.name}\n\n${skill.body}${note}`;
}

/** Its handler or its tree: what the product runs, not what the LLM reads. */
export const isCode = (skill: Skill, path: string): boolean =>
  (skill.kind === 'handler' && path === skill.handler) || (skill.kind === 'tree' && path === skill.tree.file);

const OTHERS_HEAD =
  '# Other skills\n\nInstructions for certain tasks. When a task is one of these, read the instructions with load_skill first. What stands here ' +
  'only describes them.';

const TREES_HEAD = '# Procedures\n\nFixed procedures, each run as a whole by run_bt_skill. What stands here only describes them.';
const INPUTS_CHARACTERS = 1_000;

function treeLine({ name, description, tree }: TreeSkill): string {
  const inputs = JSON.stringify(tree.inputs);
  return `- ${name}: ${description} Inputs: ${inputs.length > INPUTS_CHARACTERS ? Object.keys(tree.inputs).join(', ') : inputs}`;
}

function listOf<Item extends Skill>(head: string, skills: readonly Item[], maxBytes: number, lineOf: (skill: Item) => string): string {
  const lines: string[] = [];
  let room = maxBytes - utf8Bytes(head);
  for (const [index, skill] of skills.entries()) {
    const line = lineOf(skill);
    room -= utf8Bytes(line) + 1;
    if (room < 0) {
      const names = skills.slice(index).map(({ name }) => name);
      const shown = names.slice(0, 50).join(', ');
      lines.push(`- Not described here for lack of room (${names.length}): ${shown}${names.length > 50 ? ', …' : ''}`);
      break;
    }
    lines.push(line);
  }
  return `${head}\n\n${lines.join('\n')}`;
}
