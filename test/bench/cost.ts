import type { RequestInfo } from '../../lib/adapters/stores/dynamodb/client.ts';
import { awsPricesSchema } from '../../lib/core/cost/prices.ts';
import { LAMBDA_OVERHEAD_MS } from '../../lib/core/cost/run-cost.ts';
import { functionMemoryMb } from '../../lib/manifest.ts';
import { categories } from '../../lib/tools/index.ts';
import { benchModel, round, withRuntime } from './bench-runtime.ts';

const ITERATIONS = 70;
/** Counted from here: the run item and the history have their usual size by then. */
const FROM = 20;
/** What the example's LLM takes to answer: `reason` is paid while it waits. docs/cost.md says what another speed makes of it. */
const MODEL_MS = 2_000;

export interface CostFigures {
  readonly usdPer1000Iterations: { readonly transitions: number; readonly lambda: number; readonly dynamodb: number };
  /** What they are worked out from, of one iteration. */
  readonly perIteration: {
    readonly transitions: number;
    readonly readUnits: number;
    readonly writeUnits: number;
    readonly gbSeconds: number;
  };
}

/** One iteration = one LLM call with one tool call: counted transitions and request units, times the prices. */
export async function measureCost(): Promise<CostFigures> {
  let iteration = 0;
  const counted = { transitions: 0, reads: 0, writes: 0, invocations: 0 };
  const inWindow = (): boolean => iteration > FROM && iteration <= ITERATIONS;
  const model = benchModel([['memory_write', { key: 'k', value: 'v' }]], ITERATIONS, () => iteration++);
  const options = {
    model: {
      ...model,
      // Another key each time: loop detection and the memory's own conditions see distinct calls of one size.
      generate: async (request: Parameters<typeof model.generate>[0]) => {
        const reply = await model.generate(request);
        const text = JSON.stringify({ key: `k${String(iteration).padStart(4, '0')}`, value: 'v' });
        return { ...reply, calls: reply.calls.map((call) => ({ ...call, arguments: text })) };
      },
    },
    config: { constraints: { max_iterations: ITERATIONS + 5 } },
    engine: {
      onTransition: ({ state }: { readonly state: string }) => {
        if (!inWindow()) return;
        counted.transitions++;
        if (state === 'Reason' || state === 'Invoke') counted.invocations++;
      },
    },
    onRequest: (info: RequestInfo) => {
      if (!inWindow()) return;
      if (isRead(info)) counted.reads += info.capacityUnits ?? 0;
      else counted.writes += info.capacityUnits ?? 0;
    },
  };
  let toolMs = 0;
  await withRuntime(options, async (api) => {
    const runId = await api.start('measure');
    // Nobody polls while it runs: readers' requests would be counted.
    while (iteration <= ITERATIONS) await new Promise((resolve) => setTimeout(resolve, 20));
    const run = await api.ended(runId);
    toolMs = run.timings.toolMs / ITERATIONS;
  });
  const windowed = ITERATIONS - FROM;
  const gb = (name: string, ms: number): number => (functionMemoryMb(categories, name) / 1024) * (ms / 1000);
  const gbSeconds = gb('reason', MODEL_MS + LAMBDA_OVERHEAD_MS.reason) + gb('memory', toolMs + LAMBDA_OVERHEAD_MS.tool);
  const prices = awsPricesSchema.parse({});
  const each = (count: number): number => count / windowed;
  const dynamodb = each(counted.reads) * prices.dynamodb_reads_per_million + each(counted.writes) * prices.dynamodb_writes_per_million;
  const lambda = gbSeconds * prices.lambda_gb_second + (each(counted.invocations) * prices.lambda_requests_per_million) / 1e6;
  return {
    usdPer1000Iterations: {
      transitions: round((each(counted.transitions) * prices.transitions_per_million) / 1_000, 4),
      lambda: round(lambda * 1_000, 4),
      dynamodb: round(dynamodb / 1_000, 4),
    },
    perIteration: {
      transitions: round(each(counted.transitions), 2),
      readUnits: round(each(counted.reads), 1),
      writeUnits: round(each(counted.writes), 1),
      gbSeconds: round(gbSeconds, 3),
    },
  };
}

const isRead = ({ operation }: RequestInfo): boolean => /^(?:Get|BatchGet|Query)/.test(operation);
