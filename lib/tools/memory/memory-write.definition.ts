import * as z from 'zod';
import { defineTool } from '../../core/hands/define-tool.ts';
import { parametersOf } from '../arguments.ts';
import { memoryKeySchema } from './memory-key.ts';

export const memoryWriteArguments = z.strictObject({
  key: memoryKeySchema,
  // Optional in the schema only because a required null counts as missing (design 6.2).
  value: z.string().nullable().optional().describe('What to remember; replaces what was there. null forgets the memory.'),
});

/** Seed 004 section 1.2. */
export const memoryWriteDefinition = defineTool({
  name: 'memory_write',
  description:
    'Remembers a text under a key, for later in this session and for later sessions, or forgets it (`value`: null). Remember what will ' +
    'matter again: preferences, decisions, where things are. Within a skill or a sub-agent it is remembered for that one task only. No ' +
    'passwords or keys. A value may be 64 KB; larger texts belong in a file.',
  parameters: parametersOf(memoryWriteArguments),
  category: 'memory',
  timeoutMs: 3_000,
  effectTags: ['memory.write'],
  aliases: ['write_memory', 'memory_put', 'memory_set'],
});
