import type { Category, ToolHandler } from '../../core/hands/category.ts';
import { CONCURRENCY } from '../../core/limits.ts';
import { executeJavaScriptDefinition } from './execute-javascript.definition.ts';
import { executeJavaScript } from './execute-javascript.ts';
import { executePythonDefinition } from './execute-python.definition.ts';
import { executePython } from './execute-python.ts';
import { executeShellDefinition } from './execute-shell.definition.ts';
import { executeShell } from './execute-shell.ts';

/** Scripts in a sandbox, on the session's files. Timeouts and sizes: seed 004 section 4.3, design 6.6 and 9. */
export const code: Category = {
  name: 'code',
  timeoutMs: 30_000,
  memoryMb: 2_048,
  maxConcurrency: CONCURRENCY.categories.code,
  needs: ['workspace', 'codeRunner'],
  tools: [executePythonDefinition, executeShellDefinition, executeJavaScriptDefinition],
};

/** By tool name. Apart from `code`, so that a bundle that only needs the definitions ships no handler. */
export const codeHandlers: Readonly<Record<string, ToolHandler>> = {
  execute_python: executePython,
  execute_shell: executeShell,
  execute_javascript: executeJavaScript,
};
