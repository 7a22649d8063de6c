import * as z from 'zod';
import { failure, type NodeDefinition, SUCCESS } from '../node.ts';
import { nameField } from './fields.ts';

const fields = z.strictObject({ type: z.literal('inverter'), name: nameField });

/** Success where its child fails, failure where it succeeds. */
export const inverter: NodeDefinition<typeof fields> = {
  type: 'inverter',
  fields,
  label: () => 'not',
  visit(place, walk) {
    for (const child of place.children) {
      const verdict = walk.visit(child);
      if (verdict.status === 'running') return verdict;
      return verdict.status === 'failure' ? SUCCESS : failure(place, `"${child.path}" succeeded`);
    }
    return SUCCESS;
  },
};
