import type { Category, ToolHandler } from '../../core/hands/category.ts';
import { CONCURRENCY } from '../../core/limits.ts';
import { listDirectoryDefinition } from './list-directory.definition.ts';
import { listDirectory } from './list-directory.ts';
import { readFileDefinition } from './read-file.definition.ts';
import { readFile } from './read-file.ts';
import { writeFileDefinition } from './write-file.definition.ts';
import { writeFile } from './write-file.ts';

/** Files of the session's workspace. Timeouts and sizes: seed 004 sections 2.2 and 4.1. */
export const file: Category = {
  name: 'file',
  timeoutMs: 5_000,
  memoryMb: 256,
  maxConcurrency: CONCURRENCY.categories.file,
  needs: ['workspace'],
  tools: [readFileDefinition, writeFileDefinition, listDirectoryDefinition],
};

/** By tool name. Apart from `file`, so that a bundle that only needs the definitions ships no handler. */
export const fileHandlers: Readonly<Record<string, ToolHandler>> = {
  read_file: readFile,
  write_file: writeFile,
  list_directory: listDirectory,
};
