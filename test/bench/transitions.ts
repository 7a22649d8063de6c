import type { Transition } from '../../lib/adapters/engine/embedded.ts';
import type { ConfigInput } from '../../lib/core/config.ts';
import { benchModel, withRuntime } from './bench-runtime.ts';

export interface TransitionFigures {
  readonly one: number;
  readonly three: number;
  readonly serial3: number;
  readonly approval1: number;
  readonly wait1: number;
}

type Calls = readonly (readonly [string, object])[];
const LOOK: Calls[number] = ['list_directory', { path: '.' }];

/** Transitions from a Reason to the next LLM call, counted on the embedded engine as AWS bills them (design 3.1). */
export async function measureTransitions(): Promise<TransitionFigures> {
  return {
    one: await between([LOOK]),
    three: await between([LOOK, ['list_directory', { path: '.', depth: 1 }], ['list_directory', { path: '.', depth: 2 }]]),
    serial3: await between([1, 2, 3].map((n) => ['memory_write', { key: `k${n}`, value: 'v' }] as const)),
    approval1: await between([LOOK], { constraints: { guard: { tool_policy: { list_directory: 'confirm' } } } }, true),
    wait1: await waiting(),
  };
}

async function between(calls: Calls, config: ConfigInput = {}, approve = false): Promise<number> {
  let count = 0;
  const marks: number[] = [];
  const model = benchModel(calls, 1, () => marks.push(count));
  await withRuntime({ model, config, engine: { onTransition: () => count++ } }, async (api) => {
    const runId = await api.start('measure');
    if (approve)
      for (const { approvalId } of await api.approvals(runId, calls.length))
        await api.call('POST', `/approvals/${approvalId}`, { decision: 'approve' });
    await api.ended(runId);
  });
  const [first = 0, second = 0] = marks;
  return second - first;
}

/** The second of two runs finds the one place taken, waits once, and then goes on. */
async function waiting(): Promise<number> {
  const entered: Transition[] = [];
  const marks = new Map<string, number[]>();
  let execution = '';
  const model = benchModel([['execute_shell', { code: 'sleep 0.4' }]], 1, (request) => {
    const task = request.messages.find((message) => message.role === 'user')?.text ?? '';
    marks.set(task, [...(marks.get(task) ?? []), entered.filter((transition) => transition.execution === execution).length]);
  });
  await withRuntime(
    { model, config: { hands: { concurrency: { global: 1 } } }, engine: { onTransition: (transition) => entered.push(transition) } },
    async (api) => {
      const first = await api.start('first');
      await api.until('the first to hold the place', async () =>
        (await api.events(first)).some((event) => event.type === 'tool.call.started') ? true : undefined,
      );
      const started = api.start('second', { idempotencyKey: 'second' });
      execution = `${await started}-1`;
      await api.ended(first);
      await api.ended(await started);
    },
  );
  const own = entered.filter((transition) => transition.execution === execution).map(({ state }) => state);
  // From the first Reason up to, not with, the one that made the second LLM call: the last but Route and Finish.
  return own.lastIndexOf('Reason');
}
