import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { deployedStack } from '../support/emulator.ts';
import { E2E_CONFIG } from './embedded-runner.ts';
import type { Runner } from './runner.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** A stack on an emulator, or the given one. */
export async function cloudRunner(): Promise<Runner> {
  const { apiUrl, authorization, inside } = await deployedStack(relative(ROOT, E2E_CONFIG), process.env);
  return {
    url: apiUrl,
    authorization,
    sweep: inside && (async () => void (await inside.invoke('sweep', {}))),
    transitions: inside && ((execution) => inside.transitions(execution)),
    async close() {},
  };
}
