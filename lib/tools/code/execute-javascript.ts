import type { ToolHandler } from '../../core/hands/category.ts';
import { parseArguments } from '../arguments.ts';
import { executeJavaScriptArguments } from './execute-javascript.definition.ts';
import { type CodeServices, runCode } from './run-code.ts';

/** `{ exitCode, stdout, stderr, files }`. */
export const executeJavaScript: ToolHandler<CodeServices> = (args, context, services) =>
  runCode('javascript', parseArguments(executeJavaScriptArguments, args), context, services);
