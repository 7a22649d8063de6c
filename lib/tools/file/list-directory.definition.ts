import * as z from 'zod';
import { defineTool } from '../../core/hands/define-tool.ts';
import { parametersOf } from '../arguments.ts';

/** Levels of directories one call looks at. */
export const MAX_DEPTH = 10;

export const listDirectoryArguments = z.strictObject({
  path: z.string().default('.').describe('Directory relative to the workspace; "." is the workspace itself.'),
  depth: z
    .int()
    .min(1)
    .max(MAX_DEPTH)
    .optional()
    .describe(`Levels to show: 1 is the directory's own entries. Default 1, or ${MAX_DEPTH} when a glob is given.`),
  glob: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe('Show only what matches: * and ? within a name, ** across directories. Without "/" it is held against the name alone.'),
  sizes: z.boolean().default(true).describe('Show the size of each file in bytes.'),
});

/** Seed 004 section 1.2. */
export const listDirectoryDefinition = defineTool({
  name: 'list_directory',
  description:
    'Lists files and directories of the workspace, one a line, as paths that read_file takes; directories end in "/". Use `glob` to find ' +
    'files by name at any depth. Shows at most 1000 entries and says when there are more. It does not search in the content of files.',
  parameters: parametersOf(listDirectoryArguments),
  category: 'file',
  permissions: { filesystem: { read: ['**'] } },
  timeoutMs: 3_000,
  parallelSafe: true,
  idempotent: true,
  effectTags: ['fs.read'],
  aliases: ['list_dir', 'file_list'],
});
