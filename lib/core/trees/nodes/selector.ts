import * as z from 'zod';
import { failure, type NodeDefinition, type Verdict } from '../node.ts';
import { nameField } from './fields.ts';

const fields = z.strictObject({ type: z.literal('selector'), name: nameField });

/** One child after another until one succeeds; fails, as the last one did, when none does. */
export const selector: NodeDefinition<typeof fields> = {
  type: 'selector',
  fields,
  label: () => 'first that succeeds',
  visit(place, walk) {
    let verdict: Verdict = failure(place, 'it has no children');
    for (const child of place.children) {
      verdict = walk.visit(child);
      if (verdict.status !== 'failure') return verdict;
    }
    return verdict;
  },
};
