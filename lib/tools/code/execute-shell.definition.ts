import { defineTool } from '../../core/hands/define-tool.ts';
import { parametersOf } from '../arguments.ts';
import { codeArguments, SANDBOX_RULES } from './arguments.ts';

export const executeShellArguments = codeArguments('A bash script, of one line or many.');

/** Seed 004 section 1.2. */
export const executeShellDefinition = defineTool({
  name: 'execute_shell',
  description:
    'Runs a bash script in a sandbox. The shell is an emulation: pipes, redirections, variables, functions, arrays, loops and globs work; so do ' +
    'ls cat head tail cp mv rm mkdir find grep rg sed awk sort uniq cut tr wc diff jq yq xan tar gzip base64 sha256sum date seq xargs tee and ' +
    'python3 (standard library only). Not there: git, curl, wget, node, sqlite3, ln, package managers; "&" does not run in the background. ' +
    SANDBOX_RULES,
  parameters: parametersOf(executeShellArguments),
  category: 'code',
  // python3 too: the shell can call it.
  permissions: { execution: { allowedCommands: ['sh', 'bash', 'python3'] } },
  timeoutMs: 30_000,
  effectTags: ['code.exec'],
  aliases: ['bash', 'shell'],
});
