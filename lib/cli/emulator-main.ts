import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { HandrailError } from '../core/errors.ts';
import { EMULATOR_PORT } from './emulator.ts';
import { deployLocal } from './emulator-deploy.ts';
import { stopMinistack } from './emulator-install.ts';

/** `npm run deploy:local -- [--port 4566] [--config file] [--name prefix] [-c setting=value …] | --stop` */
const OPTIONS = {
  port: { type: 'string' },
  config: { type: 'string' },
  name: { type: 'string' },
  context: { type: 'string', short: 'c', multiple: true },
  stop: { type: 'boolean' },
} as const;
const root = fileURLToPath(new URL('../..', import.meta.url));

try {
  const { values } = parseArgs({ options: OPTIONS });
  const port = portOf(values.port);
  await (values.stop ? stop(port) : deploy(port, values));
} catch (error) {
  if (!(error instanceof HandrailError || (error instanceof TypeError && 'code' in error))) throw error;
  console.error(error.message);
  process.exitCode = 1;
}

interface DeployFlags {
  readonly config?: string | undefined;
  readonly name?: string | undefined;
  readonly context?: readonly string[] | undefined;
}

async function deploy(port: number, { config, name, context = [] }: DeployFlags): Promise<void> {
  const begun = Date.now();
  const { apiUrl, secret, emulator, workspace } = await deployLocal({
    root,
    port,
    ...(config === undefined ? {} : { config }),
    ...(name === undefined ? {} : { name }),
    settings: Object.fromEntries(context.map(settingOf)),
    say: (line) => console.error(line),
  });
  console.log(`Deployed to ${emulator.kind} in ${Math.round((Date.now() - begun) / 1000)} s`);
  console.log(`  API     ${apiUrl}`);
  console.log(
    secret === undefined
      ? '  Token   one of the issuer in auth.issuer (Authorization: Bearer …)'
      : `  Secret  ${secret}   (Authorization: Bearer …)`,
  );
  if (workspace !== undefined) console.log(`  Files   ${workspace}`);
  console.log(`Try     HANDRAIL_URL='${apiUrl}' HANDRAIL_SECRET=${secret ?? '<token>'} npx handrail tools`);
  if (emulator.kind === 'ministack') console.log('Stop    npm run deploy:local -- --stop');
}

async function stop(port: number): Promise<void> {
  const stopped = await stopMinistack(root, port);
  console.log(stopped ? `Stopped the MiniStack on port ${port}; what was deployed is gone` : `No MiniStack of ours runs on port ${port}`);
}

function settingOf(text: string): [string, string] {
  const [, key, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (key !== undefined && value !== undefined) return [key, value];
  throw new HandrailError('BAD_REQUEST', `-c is written like approvalsMail=team@example.com, not ${text}`);
}

function portOf(text: string | undefined): number {
  const port = text === undefined ? EMULATOR_PORT : Number(text);
  if (Number.isInteger(port) && port > 0 && port < 65_536) return port;
  throw new HandrailError('BAD_REQUEST', `--port must be 1 to 65535, not ${text}`);
}
