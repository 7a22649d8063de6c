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
const toolListSchema = z.object({ tools: z.array(toolViewSchema) }).register(schemaNames, { id: 'ToolList' });

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
  }),
});
