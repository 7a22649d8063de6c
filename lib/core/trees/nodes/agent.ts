import * as z from 'zod';
import { constraintsSchema } from '../../guard/constraints.ts';
import { renderPrompt, writeKeySchema } from '../blackboard.ts';
import type { NodeDefinition } from '../node.ts';
import { nameField, templateField, warnMissing } from './fields.ts';

const SEED_MESSAGES = 50;
const SKILLS = 20;

const fields = z.strictObject({
  type: z.literal('agent'),
  name: nameField,
  task: templateField,
  /** Name of an agent of the configuration; without one, the agent of the run. */
  agent: z.string().min(1).max(64).optional(),
  skills: z.array(z.string().min(1).max(128)).max(SKILLS).optional(),
  /** Messages of the conversation so far that it is given (seed 000, SkillNode). */
  history_limit: z.int().nonnegative().max(1_000).optional(),
  seed_messages: z
    .array(z.strictObject({ role: z.enum(['user', 'assistant']), content: templateField }))
    .max(SEED_MESSAGES)
    .optional(),
  output_key: writeKeySchema,
  /** Can only tighten (design 5.4). */
  constraints: constraintsSchema.optional(),
});

/** An agent frame of its own (seed 000, SkillNode; design 3.6): its answer is the node's value. */
export const agent: NodeDefinition<typeof fields> = {
  type: 'agent',
  fields,
  label: (node) => `agent ${node.agent ?? 'of the run'}${node.skills?.length ? ` with ${node.skills.join(', ')}` : ''}`,
  visit(place, walk) {
    const { node, path } = place;
    return walk.leaf({
      kind: 'agent',
      place,
      handOut() {
        const task = renderPrompt(node.task, walk);
        const seeds = (node.seed_messages ?? []).map(({ role, content }) => ({ role, ...renderPrompt(content, walk) }));
        warnMissing(walk, place, [...task.missing, ...seeds.flatMap(({ missing }) => missing)]);
        const untrusted = [task, ...seeds].some((rendered) => rendered.untrusted);
        return { path, node, task: task.value, seedMessages: seeds.map(({ role, value }) => ({ role, content: value })), untrusted };
      },
    });
  },
};
