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
    transitions: inside && (async (execution) => (await inside.history(execution)).flatMap(transitionsOf)),
    async close() {},
  };
}

/** States inside a Map leave no StateEntered on some emulators: what was scheduled and what failed there counts instead. */
function transitionsOf(event: {
  type?: string | undefined;
  stateEnteredEventDetails?: { name?: string | undefined } | undefined;
  taskScheduledEventDetails?: { parameters?: string | undefined } | undefined;
}): string[] {
  const entered = event.stateEnteredEventDetails?.name;
  if (entered !== undefined) return entered === 'Invoke' || entered === 'Exhausted' || entered === 'Crashed' ? [] : [entered];
  return event.type === 'TaskScheduled' && event.taskScheduledEventDetails?.parameters?.includes('-tool-') ? ['Invoke'] : [];
}
