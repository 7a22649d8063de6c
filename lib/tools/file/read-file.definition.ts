import * as z from 'zod';
import { defineTool } from '../../core/hands/define-tool.ts';
import { parametersOf } from '../arguments.ts';

/** Files of one call. More would leave each too small a share of the result. */
const MAX_PATHS = 20;

const path = z.string().min(1).describe('Path relative to the workspace, such as "notes/plan.md".');

export const readFileArguments = z.strictObject({
  path: path.optional(),
  paths: z
    .array(path)
    .min(1)
    .max(MAX_PATHS)
    .optional()
    .describe('Several files at once, instead of `path`. Each succeeds or fails on its own.'),
  start_line: z.int().min(1).max(1e9).optional().describe('First line to return, counted from 1. Only with `path`.'),
  end_line: z.int().min(1).max(1e9).optional().describe('Last line to return, included. Only with `path`.'),
  encoding: z.enum(['utf-8', 'base64']).default('utf-8').describe('How to return the content: text, or base64 for binary files.'),
});

/** Seed 004 sections 1.2 and 5.4. */
export const readFileDefinition = defineTool({
  name: 'read_file',
  description:
    'Reads files of the workspace. Give either `path` (one file, returned as it is) or `paths` (up to 20 files; those that fail are ' +
    'reported by name beside those that succeed). A result holds about 50 KB: read a longer file in pieces with `start_line` and ' +
    '`end_line`, which also tell how many lines there are. Fails when the file does not exist, is a directory, or is over 10 MB.',
  parameters: parametersOf(readFileArguments),
  category: 'file',
  permissions: { filesystem: { read: ['**'] } },
  timeoutMs: 5_000,
  parallelSafe: true,
  idempotent: true,
  effectTags: ['fs.read'],
  aliases: ['file_read'],
});
