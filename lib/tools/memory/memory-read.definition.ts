import * as z from 'zod';
import { defineTool } from '../../core/hands/define-tool.ts';
import { parametersOf } from '../arguments.ts';
import { memoryKeySchema } from './memory-key.ts';

export const memoryReadArguments = z.strictObject({
  key: memoryKeySchema.optional(),
  prefix: z.string().max(256).optional().describe('Return memories whose key begins like this.'),
  text: z.string().max(256).optional().describe('Return memories that hold this text in their key or value.'),
  limit: z.int().min(1).max(100).default(20).describe('How many to return at most.'),
  cursor: z.string().max(2_048).optional().describe('The `cursor` of the answer before, to go on after it.'),
});

/** Seed 004 section 1.2. */
export const memoryReadDefinition = defineTool({
  name: 'memory_read',
  description:
    'Looks up what was remembered with memory_write, in this session or an earlier one. Give `key` for one memory, or `prefix` and/or ' +
    '`text` to search, or nothing to see what there is. Returns `entries` with key, value and time; an empty list means nothing is ' +
    'remembered. A `cursor` means there may be more.',
  parameters: parametersOf(memoryReadArguments),
  category: 'memory',
  timeoutMs: 3_000,
  parallelSafe: true,
  idempotent: true,
  effectTags: ['memory.read'],
  aliases: ['read_memory', 'memory_get', 'memory_search'],
});
