import * as z from 'zod';
import { type NodeDefinition, RUNNING, SUCCESS, type Verdict } from '../node.ts';
import { nameField } from './fields.ts';

const fields = z.strictObject({
  type: z.literal('parallel'),
  name: nameField,
  success: z.enum(['all', 'any']).default('all'),
});

/**
 * All children at once. `all` fails with the first failure, `any` succeeds with the first success, in the order of the
 * children: what is ready under the others is dropped, and children not looked at yet in that tick are not begun.
 */
export const parallel: NodeDefinition<typeof fields> = {
  type: 'parallel',
  fields,
  label: ({ success }) => `at once, ${success} must succeed`,
  visit(place, walk) {
    const settled = walk.settled(place);
    if (settled) return settled;
    const mark = walk.mark();
    const deciding = place.node.success === 'all' ? 'failure' : 'success';
    let open = false;
    let last: Verdict = SUCCESS;
    for (const child of place.children) {
      const verdict = walk.visit(child);
      if (verdict.status === deciding) {
        walk.drop(mark);
        // Kept, since under the others a delay or a time may run out later.
        return walk.settle(place, verdict);
      }
      if (verdict.status === 'running') open = true;
      else last = verdict;
    }
    return open ? RUNNING : last;
  },
};
