import type { Category, ToolHandler } from '../../core/hands/category.ts';
import { CONCURRENCY } from '../../core/limits.ts';
import { memoryReadDefinition } from './memory-read.definition.ts';
import { memoryRead } from './memory-read.ts';
import { memoryWriteDefinition } from './memory-write.definition.ts';
import { memoryWrite } from './memory-write.ts';

/** What an agent remembers beyond a session, by tenant and namespace. Timeouts: seed 004 section 2.2. */
export const memory: Category = {
  name: 'memory',
  timeoutMs: 3_000,
  memoryMb: 128,
  maxConcurrency: CONCURRENCY.categories.memory,
  needs: ['memoryTable'],
  tools: [memoryReadDefinition, memoryWriteDefinition],
};

/** By tool name. Apart from `memory`, so that a bundle that only needs the definitions ships no handler. */
export const memoryHandlers: Readonly<Record<string, ToolHandler>> = {
  memory_read: memoryRead,
  memory_write: memoryWrite,
};
