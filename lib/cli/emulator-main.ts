import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { HandrailError } from '../core/errors.ts';
import { EMULATOR_PORT } from './emulator.ts';
import { deployLocal } from './emulator-deploy.ts';

/** `npm run deploy:local [-- --port 4566] [--config file] [--name prefix]` */
const { values } = parseArgs({ options: { port: { type: 'string' }, config: { type: 'string' }, name: { type: 'string' } } });

function portOf(text: string | undefined): number {
  const port = text === undefined ? EMULATOR_PORT : Number(text);
  if (Number.isInteger(port) && port > 0 && port < 65_536) return port;
  throw new HandrailError('BAD_REQUEST', `--port must be 1 to 65535, not ${text}`);
}

try {
  const begun = Date.now();
  const { apiUrl, secret, emulator, workspace } = await deployLocal({
    root: fileURLToPath(new URL('../..', import.meta.url)),
    port: portOf(values.port),
    ...(values.config === undefined ? {} : { config: values.config }),
    ...(values.name === undefined ? {} : { name: values.name }),
    say: (line) => console.error(line),
  });
  console.log(`Deployed to ${emulator.kind} in ${Math.round((Date.now() - begun) / 1000)} s`);
  console.log(`  API     ${apiUrl}`);
  console.log(`  Secret  ${secret}   (Authorization: Bearer …)`);
  if (workspace !== undefined) console.log(`  Files   ${workspace}`);
  console.log(`Try     curl -H 'Authorization: Bearer ${secret}' '${apiUrl}/tools'`);
  if (emulator.pid !== undefined) console.log(`Stop    kill ${emulator.pid}`);
} catch (error) {
  if (!(error instanceof HandrailError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
