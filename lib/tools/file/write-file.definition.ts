import * as z from 'zod';
import { defineTool } from '../../core/hands/define-tool.ts';
import { parametersOf } from '../arguments.ts';

export const writeFileArguments = z.strictObject({
  path: z.string().min(1).describe('Path relative to the workspace, such as "reports/summary.md". Missing directories are made.'),
  content: z.string().describe('The content: text, or base64 when `encoding` says so.'),
  mode: z
    .enum(['create', 'overwrite', 'append'])
    .default('overwrite')
    .describe('create: fail if the file exists. overwrite: replace it. append: add to its end. All make a file that is missing.'),
  encoding: z.enum(['utf-8', 'base64']).default('utf-8').describe('What `content` is: text, or base64 of binary data.'),
});

/** Seed 004 section 1.2. */
export const writeFileDefinition = defineTool({
  name: 'write_file',
  description:
    'Writes a file of the workspace in one go: it ends up complete or unchanged. Returns its path, its size in bytes and whether it is ' +
    'new. For more than about 100 KB write the first part with mode "overwrite" and the others with "append". A file may be 10 MB, the ' +
    'workspace 100 MB.',
  parameters: parametersOf(writeFileArguments),
  category: 'file',
  permissions: { filesystem: { write: ['**'] } },
  timeoutMs: 5_000,
  effectTags: ['fs.write'],
  aliases: ['file_write'],
});
