import * as z from 'zod';
import { TREE } from '../../limits.ts';
import { type NodeDefinition, SUCCESS } from '../node.ts';
import { nameField } from './fields.ts';

const fields = z.strictObject({
  type: z.literal('retry'),
  name: nameField,
  /** The first one included. */
  attempts: z.int().min(1).max(TREE.attempts),
  /** Between two attempts. */
  delay_s: z.number().nonnegative().max(TREE.delaySeconds).default(0),
});

/** Starts its child anew when it fails: results are forgotten and approvals asked again, the blackboard stays as it is. */
export const retry: NodeDefinition<typeof fields> = {
  type: 'retry',
  fields,
  label: ({ attempts, delay_s: delay }) => `up to ${attempts} attempts${delay > 0 ? `, ${delay} s apart` : ''}`,
  visit(place, walk) {
    const { node } = place;
    for (const child of place.children) {
      for (;;) {
        const { attempt = 1, until } = walk.own(place);
        if (until !== undefined && walk.now < until) return walk.ask({ kind: 'wait', place, ms: until - walk.now });
        const verdict = walk.visit(child);
        if (verdict.status !== 'failure' || attempt >= node.attempts) return verdict;
        walk.forget(child);
        walk.note(place, { attempt: attempt + 1, ...(node.delay_s > 0 ? { until: walk.now + node.delay_s * 1_000 } : {}) });
      }
    }
    return SUCCESS;
  },
};
