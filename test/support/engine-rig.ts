import { setImmediate } from 'node:timers/promises';
import {
  type ClosedExecution,
  EmbeddedEngine,
  type EmbeddedEngineOptions,
  type EngineHandlers,
  type Transition,
} from '../../lib/adapters/engine/embedded.ts';
import type { Json, JsonObject } from '../../lib/core/json.ts';
import { loopDefinition } from '../../lib/core/machine/loop.ts';

export const RUN_ID = 'r-00000000000000000000000000';
export const CTX = { tenant: 't1', runId: RUN_ID, step: 0 };

/** The loop as the tests deploy it: names instead of ARNs, short timeouts. */
export const testLoop = (seconds: { suspend?: number } = {}): JsonObject =>
  loopDefinition({
    reasonFunction: 'reason',
    suspendFunction: 'suspend',
    functionTimeouts: { reason: 20, tool: 20 },
    ...(seconds.suspend === undefined ? {} : { suspendSeconds: seconds.suspend }),
  });

export interface ReasonInput {
  readonly data: { ctx: typeof CTX; calls?: Json[]; woke?: Json; recover?: boolean; next?: string };
  readonly execution: string;
}

export interface Rig {
  readonly engine: EmbeddedEngine;
  /** What each Reason was given, in order. */
  readonly seen: ReasonInput[];
  readonly transitions: Transition[];
  /** Starts an execution and waits for its end. */
  run(name?: string, input?: JsonObject): Promise<ClosedExecution>;
  closed(name: string): Promise<ClosedExecution>;
}

type RigOptions = Partial<EngineHandlers> &
  Partial<Pick<EmbeddedEngineOptions, 'definition'>> & {
    /** Wait and retries pause as the definition says, instead of not at all. */
    readonly realPauses?: boolean;
  };

/** The embedded engine over a `reason` that plays `plans` by step (like the real one, repeating a step repeats its plan). */
export function engineRig(plans: readonly JsonObject[], options: RigOptions = {}): Rig {
  const seen: ReasonInput[] = [];
  const transitions: Transition[] = [];
  const ends = new Map<string, PromiseWithResolvers<ClosedExecution>>();
  const end = (name: string): PromiseWithResolvers<ClosedExecution> => {
    const known = ends.get(name) ?? Promise.withResolvers<ClosedExecution>();
    ends.set(name, known);
    return known;
  };
  const { reason, suspend, tool, definition = testLoop(), realPauses = false } = options;
  const handlers: EngineHandlers = {
    reason: async (event, signal) => {
      const input = event as unknown as ReasonInput;
      seen.push(input);
      if (reason) return reason(event, signal);
      const { ctx } = input.data;
      return { ctx: { ...ctx, step: ctx.step + 1 }, ...plans[ctx.step] };
    },
    suspend: suspend ?? (async () => null),
    tool: tool ?? (async (_name, call) => ({ callId: (call as JsonObject)['callId'], result: { success: true } })),
  };
  const engine = new EmbeddedEngine({
    definition,
    handlers,
    ...(realPauses ? {} : { retryMs: 0, waitMs: 0 }),
    onTransition: (transition) => transitions.push(transition),
    onClosed: (closed) => end(closed.name).resolve(closed),
  });
  const run = async (name = `${RUN_ID}-1`, input: JsonObject = { ctx: CTX }): Promise<ClosedExecution> => {
    await engine.start(name, input);
    return end(name).promise;
  };
  return { engine, seen, transitions, run, closed: (name) => end(name).promise };
}

/** Calls as `reason` dispatches them, cut to what the machine reads. */
export const calls = (count: number, extra: JsonObject = {}): JsonObject[] =>
  Array.from({ length: count }, (_, index) => ({ callId: `c1-${index}`, functionName: 'file', ...extra }));

/** The calls that the `index`-th Reason was given results for; throws when there are none. */
export function resultsAt(rig: Rig, index: number): JsonObject[] {
  const results = rig.seen[index]?.data.calls;
  if (!results) throw new Error(`Reason ${index} was given no results`);
  return results as JsonObject[];
}

/** Lets the engine work until `done`, without a timer. */
export async function until(done: () => boolean): Promise<void> {
  for (let turn = 0; turn < 10_000; turn++) {
    if (done()) return;
    await setImmediate();
  }
  throw new Error('it never came');
}
