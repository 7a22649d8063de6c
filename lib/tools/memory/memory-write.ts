import { HandrailError } from '../../core/errors.ts';
import type { ToolHandler } from '../../core/hands/category.ts';
import { utf8Bytes } from '../../core/json.ts';
import { MEMORY } from '../../core/limits.ts';
import { parseArguments } from '../arguments.ts';
import { serviceOf } from '../services.ts';
import { memoryWriteArguments } from './memory-write.definition.ts';
import { memoryScope } from './scope.ts';

/** Sets or forgets one memory. The store keeps the number of memories within its limit. */
export const memoryWrite: ToolHandler = async (args, context, services) => {
  const { key, value } = parseArguments(memoryWriteArguments, args);
  const memory = serviceOf(services, 'memory');
  const scope = memoryScope(context);
  if (value === undefined)
    throw new HandrailError('INVALID_ARGUMENTS', 'value: give a text, or null to forget the memory', { field: 'value' });
  if (value === null) return { json: { key, forgotten: await memory.remove(scope, key) } };
  if (!value.isWellFormed())
    throw new HandrailError('INVALID_ARGUMENTS', 'value: holds half a surrogate pair; write it anew', { field: 'value' });
  const bytes = utf8Bytes(value);
  if (bytes > MEMORY.valueBytes) {
    throw new HandrailError('RESOURCE_EXHAUSTED', `The value takes ${bytes} bytes, ${MEMORY.valueBytes} are allowed; put it in a file.`);
  }
  await memory.write(scope, { key, value, updatedAt: context.now() });
  return { json: { key, bytes } };
};
