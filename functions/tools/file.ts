import { toolLambda, workspaceServices } from '../../lib/runtime/aws.ts';
import { file, fileHandlers } from '../../lib/tools/file/category.ts';

export const handler = toolLambda(file, fileHandlers, workspaceServices);
