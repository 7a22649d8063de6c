import { toolLambda, withFileOperations, workspaceServices } from '../../lib/runtime/aws-tools.ts';
import { file, fileHandlers } from '../../lib/tools/file/category.ts';

export const handler = withFileOperations(toolLambda(file, fileHandlers, workspaceServices));
