import * as z from 'zod';
import { isJsonObject, type JsonObject } from '../../json.ts';
import { readKey, readKeySchema, writeKeySchema } from '../blackboard.ts';
import { type NodeDefinition, type Place, SUCCESS, type Walk } from '../node.ts';
import { nameField } from './fields.ts';

const fields = z.strictObject({
  type: z.literal('tool'),
  name: nameField,
  tool: z.string().regex(/^[a-z][a-z0-9_]{0,62}$/, 'expected the name of a tool: a-z, 0-9 and _, such as read_file'),
  /** Where its arguments lie. Without one it is called with none. */
  input_key: readKeySchema.optional(),
  output_key: writeKeySchema.optional(),
  /** False: succeeds without running (seed 000, ToolNode). */
  execute: z.boolean().default(true),
});

/** Runs one tool (seed 000, ToolNode). */
export const tool: NodeDefinition<typeof fields> = {
  type: 'tool',
  fields,
  label: (node) => `${node.tool}${node.execute ? '' : ', not run'}`,
  visit(place, walk) {
    const { node, path } = place;
    if (!node.execute) return SUCCESS;
    const covered = walk.isCovered();
    return walk.leaf({ kind: 'tool', place, handOut: () => ({ path, tool: node.tool, input: inputOf(place, walk), covered }) });
  },
};

/** The seed turns whatever is not a dictionary into an empty one; here with a warning. */
function inputOf(place: Place<z.infer<typeof fields>>, walk: Walk): JsonObject {
  const { input_key: key } = place.node;
  if (key === undefined) return {};
  const value = readKey(walk.blackboard, key);
  if (isJsonObject(value)) return value;
  walk.warn(
    place,
    value === undefined
      ? `there is no value at "${key}": called without arguments`
      : `the value at "${key}" is not an object: called without arguments`,
  );
  return {};
}
