import type { ToolHandler } from '../../core/hands/category.ts';
import { parseArguments } from '../arguments.ts';
import { executeShellArguments } from './execute-shell.definition.ts';
import { runCode } from './run-code.ts';

/** `{ exitCode, stdout, stderr, files }`. */
export const executeShell: ToolHandler = (args, context, services) =>
  runCode('shell', parseArguments(executeShellArguments, args), context, services);
