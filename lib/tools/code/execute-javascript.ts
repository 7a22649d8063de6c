import type { ToolHandler } from '../../core/hands/category.ts';
import { parseArguments } from '../arguments.ts';
import { executeJavaScriptArguments } from './execute-javascript.definition.ts';
import { runCode } from './run-code.ts';

/** `{ exitCode, stdout, stderr, files }`. */
export const executeJavaScript: ToolHandler = (args, context, services) =>
  runCode('javascript', parseArguments(executeJavaScriptArguments, args), context, services);
