import * as z from 'zod';
import { HandrailError } from '../../errors.ts';
import { renderValue, writeKeySchema } from '../blackboard.ts';
import type { NodeDefinition } from '../node.ts';
import { jsonField, nameField, warnMissing } from './fields.ts';

const fields = z.strictObject({ type: z.literal('set'), name: nameField, key: writeKeySchema, value: jsonField });

/** Writes a value to the blackboard, with the placeholders in its texts filled in. */
export const set: NodeDefinition<typeof fields> = {
  type: 'set',
  fields,
  label: ({ key }) => key,
  visit(place, walk) {
    const { key, value } = place.node;
    return walk.once(place, () => {
      try {
        const rendered = renderValue(value, walk.blackboard);
        warnMissing(walk, place, rendered.missing);
        return walk.write(key, rendered.value);
      } catch (error) {
        if (error instanceof HandrailError) return error.message;
        throw error;
      }
    });
  },
};
