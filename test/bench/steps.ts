import type { RequestInfo } from '../../lib/adapters/stores/dynamodb/client.ts';
import { benchModel, median, round, withRuntime } from './bench-runtime.ts';

const ITERATIONS = 110;

export interface StepFigures {
  readonly dynamodb: {
    readonly requestsPerStep: number;
    readonly unitsPerStep: number;
    readonly kbSentPerIteration: { readonly at5: number; readonly at100: number };
  };
  readonly overheadMsPerIteration: number;
}

/** One run of 110 iterations of one call each: what an iteration sends, and what it takes beside the LLM and the tool. */
export async function measureSteps(): Promise<StepFigures> {
  const requests: { info: RequestInfo; iteration: number }[] = [];
  const asked: number[] = [];
  const said: number[] = [];
  let quiet = true;
  // The same arguments in each: equal messages. A poller's changing result keeps loop detection away.
  const model = benchModel(
    [['memory_read', { key: 'nothing' }]],
    ITERATIONS,
    () => asked.push(performance.now()),
    () => said.push(performance.now()),
  );
  const toolMs = await withRuntime(
    {
      model: {
        ...model,
        generate: async (request) => {
          const reply = await model.generate(request);
          return {
            ...reply,
            calls: reply.calls.map((call) => ({
              ...call,
              arguments: JSON.stringify({ key: `k${String(asked.length).padStart(4, '0')}` }),
            })),
          };
        },
      },
      config: { constraints: { max_iterations: ITERATIONS + 5 } },
      onRequest: (info) => {
        if (!quiet) requests.push({ info, iteration: asked.length });
      },
    },
    async (api) => {
      quiet = false;
      const runId = await api.start('measure');
      // Nobody polls while it runs: readers' requests would be counted.
      while (asked.length <= ITERATIONS) await new Promise((resolve) => setTimeout(resolve, 20));
      quiet = true;
      const run = await api.ended(runId);
      return run.timings.toolMs / ITERATIONS;
    },
  );
  const own = requests.filter(({ info }) => !isTool(info));
  const at = (from: number, to: number) => own.filter(({ iteration }) => iteration >= from && iteration < to);
  const kb = (iteration: number) =>
    round(at(iteration - 2, iteration + 3).reduce((sum, { info }) => sum + info.bytesSent, 0) / 5 / 1000, 2);
  const middle = at(20, 100);
  const gaps = asked.slice(21).map((time, index) => time - (said[index + 20] ?? time));
  return {
    dynamodb: {
      requestsPerStep: round(middle.length / 80, 2),
      unitsPerStep: round(middle.reduce((sum, { info }) => sum + (info.capacityUnits ?? 0), 0) / 80, 1),
      kbSentPerIteration: { at5: kb(5), at100: kb(100) },
    },
    overheadMsPerIteration: round(median(gaps) - toolMs, 2),
  };
}

/** memory_read asks by GetItem; no step of the loop does. */
const isTool = (info: RequestInfo): boolean => info.operation === 'GetItemCommand';
