import * as z from 'zod';
import { valueValidatorOf } from '../../hands/schema.ts';
import type { JsonObject } from '../../json.ts';
import { renderPrompt, renderSystem, writeKeySchema } from '../blackboard.ts';
import type { NodeDefinition } from '../node.ts';
import { jsonObjectField, nameField, templateField, warnMissing } from './fields.ts';

const fields = z.strictObject({
  type: z.literal('llm'),
  name: nameField,
  prompt: templateField,
  system: templateField.optional(),
  output_key: writeKeySchema,
  /** JSON Schema of the answer; without one it is text. */
  schema: jsonObjectField.optional(),
});

/** One LLM call without tools. */
export const llm: NodeDefinition<typeof fields> = {
  type: 'llm',
  fields,
  check: ({ schema }) => (schema === undefined ? undefined : schemaProblem(schema)),
  label: (node) => `asks the model${node.schema ? ' for JSON' : ''}`,
  visit(place, walk) {
    const { node, path } = place;
    return walk.leaf({
      kind: 'llm',
      place,
      handOut() {
        const system = node.system === undefined ? undefined : renderSystem(node.system, walk);
        const prompt = renderPrompt(node.prompt, walk, system?.moved);
        warnMissing(walk, place, [...prompt.missing, ...(system?.missing ?? [])]);
        return {
          path,
          prompt: prompt.value,
          outputKey: node.output_key,
          untrusted: prompt.untrusted,
          ...(system === undefined ? {} : { system: system.value }),
          ...(node.schema === undefined ? {} : { schema: node.schema }),
        };
      },
    });
  },
};

function schemaProblem(schema: JsonObject): string | undefined {
  try {
    valueValidatorOf(schema);
    return undefined;
  } catch (error) {
    return `schema: ${error instanceof Error ? error.message : String(error)}`;
  }
}
