import { memoryServices, toolLambda } from '../../lib/runtime/aws-tools.ts';
import { memory, memoryHandlers } from '../../lib/tools/memory/category.ts';

export const handler = toolLambda(memory, memoryHandlers, memoryServices);
