import type { ToolHandler } from '../../core/hands/category.ts';
import { parseArguments } from '../arguments.ts';
import { executePythonArguments } from './execute-python.definition.ts';
import { runCode } from './run-code.ts';

/** `{ exitCode, stdout, stderr, files }`. */
export const executePython: ToolHandler = (args, context, services) =>
  runCode('python', parseArguments(executePythonArguments, args), context, services);
