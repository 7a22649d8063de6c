import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Transition } from '../../lib/adapters/engine/embedded.ts';
import { silentLogger } from '../../lib/core/ports/logger.ts';
import { parseConfig } from '../../lib/runtime/config.ts';
import { type LocalOptions, startLocal } from '../../lib/runtime/local.ts';
import { systemClock, systemRandom } from '../../lib/runtime/system.ts';
import type { Runner } from './runner.ts';

export const E2E_CONFIG = fileURLToPath(new URL('../fixtures/e2e/handrail.config.yaml', import.meta.url));

/** Options of a laptop runtime for tests: the suite's configuration and script, a directory of its own. */
export async function localOptions(directory: string): Promise<LocalOptions> {
  const config = parseConfig(await readFile(E2E_CONFIG, 'utf8'), 'handrail.config.yaml');
  const model = config.models['default'];
  if (!model) throw new Error('the configuration of the suite names no model');
  return {
    directory,
    port: 0,
    config,
    configDirectory: dirname(E2E_CONFIG),
    choice: { model, because: 'the suite', demo: false },
    clock: systemClock,
    random: systemRandom,
    logger: silentLogger,
    environment: {},
    engine: { waitMs: 50, retryMs: 50 },
    sweepMs: 500,
  };
}

export async function embeddedRunner(): Promise<Runner> {
  const directory = await mkdtemp(join(tmpdir(), 'handrail-e2e-'));
  const entered: Transition[] = [];
  const options = await localOptions(directory);
  const runtime = await startLocal({ ...options, engine: { ...options.engine, onTransition: (transition) => entered.push(transition) } });
  return {
    url: runtime.url,
    authorization: `Bearer ${runtime.secret}`,
    sweep: async () => void (await runtime.sweep()),
    transitions: async (execution) => entered.filter((transition) => transition.execution === execution).map(({ state }) => state),
    async close() {
      await runtime.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
