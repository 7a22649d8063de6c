import { codeServices, toolLambda } from '../../lib/runtime/aws-tools.ts';
import { code, codeHandlers } from '../../lib/tools/code/category.ts';

export const handler = toolLambda(code, codeHandlers, codeServices);
