import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from '../../lib/cli/emulator-install.ts';

/** Knows the schema of every resource type as of its release. */
const VERSION = '1.58.0';
const root = fileURLToPath(new URL('../..', import.meta.url));
const directory = join(root, '.venv', `cfn-lint-${VERSION}`);

/** The `cfn-lint` command, installed once from PyPI into a Python environment of its own under `.venv/`. */
export async function installCfnLint(): Promise<string> {
  const command = join(directory, 'bin', 'cfn-lint');
  if (existsSync(command)) return command;
  for (const [program, args] of [
    ['python3', ['-m', 'venv', '--clear', directory]],
    [join(directory, 'bin', 'pip'), ['install', '--quiet', '--disable-pip-version-check', `cfn-lint==${VERSION}`]],
  ] as const) {
    const { code, output } = await run(program, args);
    if (code !== 0) throw new Error(`cfn-lint could not be installed: ${output.slice(-2_000)}`);
  }
  return command;
}

/** What cfn-lint finds in the templates, as it prints it; empty = nothing. */
export async function lint(templates: readonly string[]): Promise<string> {
  const command = await installCfnLint();
  // W3005: CDK writes dependencies that a reference implies.
  const { code, output } = await run(command, [
    '--regions',
    'us-east-1',
    'eu-west-1',
    '--ignore-checks',
    'W3005',
    '--template',
    ...templates,
  ]);
  return code === 0 ? '' : output;
}
