import { HandrailError } from '../../core/errors.ts';
import type { ToolHandler } from '../../core/hands/category.ts';
import type { MemoryEntry } from '../../core/ports/memory-store.ts';
import { parseArguments } from '../arguments.ts';
import { serviceOf } from '../services.ts';
import { memoryReadArguments } from './memory-read.definition.ts';
import { memoryScope } from './scope.ts';

/** One memory by key, or a page of a search. Nothing found is an answer, not an error. */
export const memoryRead: ToolHandler = async (args, context, services) => {
  const { key, prefix, text, limit, cursor } = parseArguments(memoryReadArguments, args);
  const memory = serviceOf(services, 'memory');
  const scope = memoryScope(context);
  if (key === undefined) {
    const page = await memory.search(scope, { ...(prefix && { prefix }), ...(text && { text }), limit, ...(cursor && { cursor }) });
    return { json: { entries: page.items.map(shown), ...(page.cursor && { cursor: page.cursor }) } };
  }
  if (prefix !== undefined || text !== undefined || cursor !== undefined) {
    throw new HandrailError('INVALID_ARGUMENTS', 'Give either `key`, or `prefix`, `text` and `cursor`.');
  }
  const entry = await memory.read(scope, key);
  return { json: { entries: entry === undefined ? [] : [shown(entry)] } };
};

function shown(entry: MemoryEntry) {
  return { key: entry.key, value: entry.value, updatedAt: new Date(entry.updatedAt).toISOString() };
}
