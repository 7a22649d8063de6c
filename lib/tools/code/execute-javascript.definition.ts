import { defineTool } from '../../core/hands/define-tool.ts';
import { parametersOf } from '../arguments.ts';
import { codeArguments, SANDBOX_RULES } from './arguments.ts';

export const executeJavaScriptArguments = codeArguments('A JavaScript module. Only what it prints comes back.');

/** Design 6.1. */
export const executeJavaScriptDefinition = defineTool({
  name: 'execute_javascript',
  description:
    'Runs JavaScript (ES2023, as a module with top-level await) in a sandbox. It is QuickJS, not Node: there are console, timers, and of ' +
    'modules fs (the common synchronous functions and their promises), path, and files of the workspace by relative path; ' +
    'fs.readFileSync(0, "utf8") reads the standard input. No other Node modules, no Buffer, URL, TextEncoder, Intl or fetch, no npm packages. ' +
    SANDBOX_RULES,
  parameters: parametersOf(executeJavaScriptArguments),
  category: 'code',
  permissions: { execution: { allowedCommands: ['node'] } },
  timeoutMs: 30_000,
  effectTags: ['code.exec'],
  aliases: ['javascript', 'run_javascript'],
});
