import * as z from 'zod';
import { toolDefinitionSchema } from '../../core/hands/define-tool.ts';
import { defineRoute } from '../route.ts';
import { schemaNames } from '../schema-names.ts';

/** What may be known of a tool: no handler. */
const toolViewSchema = z
  .object(
    toolDefinitionSchema.pick({
      name: true,
      description: true,
      category: true,
      parameters: true,
      permissions: true,
      effectTags: true,
      aliases: true,
      parallelSafe: true,
      idempotent: true,
      timeoutMs: true,
      untrusted: true,
    }).shape,
  )
  .register(schemaNames, { id: 'Tool' });
const refusedSchema = z.object({ name: z.string(), denied: z.array(z.string()) }).register(schemaNames, { id: 'RefusedTool' });
const toolListSchema = z
  .object({
    tools: z.array(toolViewSchema),
    refused: z.array(refusedSchema).describe('Left out: they declare more than `security` of the configuration allows'),
  })
  .register(schemaNames, { id: 'ToolList' });

export const listTools = defineRoute({
  method: 'get',
  path: '/tools',
  id: 'listTools',
  summary: 'The tools that agents may use',
  access: 'read',
  answer: { status: 200, description: 'All tools', schema: toolListSchema },
  handle: async (_input, services) => ({
    tools: services.tools().map((tool) => ({
      name: tool.name,
      description: tool.description,
      category: tool.category,
      parameters: tool.parameters,
      permissions: tool.permissions,
      effectTags: tool.effectTags,
      aliases: tool.aliases,
      parallelSafe: tool.parallelSafe,
      idempotent: tool.idempotent,
      untrusted: tool.untrusted,
      ...(tool.timeoutMs === undefined ? {} : { timeoutMs: tool.timeoutMs }),
    })),
    refused: services.refusedTools().map(({ name, denied }) => ({ name, denied: [...denied] })),
  }),
});
