import * as z from 'zod';
import { type NodeDefinition, SUCCESS } from '../node.ts';
import { nameField } from './fields.ts';

const fields = z.strictObject({ type: z.literal('sequence'), name: nameField });

/** One child after another; the first failure ends it. */
export const sequence: NodeDefinition<typeof fields> = {
  type: 'sequence',
  fields,
  label: () => 'in order',
  visit(place, walk) {
    for (const child of place.children) {
      const verdict = walk.visit(child);
      if (verdict.status !== 'success') return verdict;
    }
    return SUCCESS;
  },
};
