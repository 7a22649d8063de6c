import * as z from 'zod';
import { HandrailError } from '../../errors.ts';
import { renderValue, writeKeySchema } from '../blackboard.ts';
import type { NodeDefinition } from '../node.ts';
import { jsonField, nameField, warnMissing } from './fields.ts';

const fields = z.strictObject({
  type: z.literal('set'),
  name: nameField,
  key: writeKeySchema,
  value: jsonField,
  session: z.boolean().optional(),
});

/** Writes a value to the blackboard, with the placeholders in its texts filled in; with `session: true` for later runs too. */
export const set: NodeDefinition<typeof fields> = {
  type: 'set',
  fields,
  label: ({ key, session }) => (session ? `${key}, kept in the session` : key),
  visit(place, walk) {
    const { key, value, session } = place.node;
    return walk.once(place, () => {
      try {
        const rendered = renderValue(value, walk);
        warnMissing(walk, place, rendered.missing);
        const problem = walk.write(key, rendered.value, rendered.untrusted);
        return problem === undefined && session ? walk.keep({ key, value: rendered.value }) : problem;
      } catch (error) {
        if (error instanceof HandrailError) return error.message;
        throw error;
      }
    });
  },
};
