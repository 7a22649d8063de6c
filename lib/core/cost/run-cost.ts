import * as z from 'zod';
import { jsonBytes } from '../json.ts';
import type { Run } from '../loop/run.ts';
import type { AwsPrices } from './prices.ts';

/** Cost of a run, USD. `transitions` and `modelUsd` are counted; the others are worked out from what was counted. */
export const runCostSchema = z.object({
  /** What the model takes: tokens by the configured prices. */
  modelUsd: z.number(),
  /** State transitions so far. A retry of a Lambda that then succeeded is not seen. */
  transitions: z.int(),
  transitionsUsd: z.number(),
  lambdaMs: z.number(),
  lambdaUsd: z.number(),
  dynamodbReads: z.number(),
  dynamodbWrites: z.number(),
  dynamodbUsd: z.number(),
  totalUsd: z.number(),
  /** Which of these are estimates. */
  estimated: z.array(z.enum(['model', 'transitions', 'lambda', 'dynamodb'])),
});
export type RunCost = z.infer<typeof runCostSchema>;

export interface CostBasis {
  readonly prices: AwsPrices;
  /** MB of a function: `reason`, `suspend`, or a category of tools. */
  memoryMb(name: string): number;
}

/**
 * Assumed, ms, of warm functions: `reason` beside the LLM (five requests to the tables, guard, prompt), a tool function
 * beside its tool, and what suspend takes to register and tell. docs/cost.md says what they make of the sum.
 */
export const LAMBDA_OVERHEAD_MS = { reason: 60, tool: 15, suspend: 150 } as const;
const READ_UNIT_BYTES = 4_096;
const WRITE_UNIT_BYTES = 1_024;
/** Of a step: two policies, the permits item and the suspension, each a unit even when absent. */
const STEP_READS = 4;
/** Of an LLM call that asks for tools: the two policies once more, since it takes longer than they count as fresh. */
const ITERATION_READS = 2;
/** The window of the history is about what the prompt was made of: 4 bytes a token, 4 KB a unit. */
const PROMPT_TOKENS_PER_READ = 1_024;
/** Of a step: giving back and taking permits, and `dueAt` moving in its index, where the old entry is deleted and the new one put. */
const STEP_WRITES = 3;
/** Of a call: its assistant message's share, its observation and its events. */
const CALL_WRITES = 4;
/** Of an LLM call: the message, and its events. */
const ITERATION_WRITES = 3;
/** Put, token, notice, decision, delivery, acknowledgement. */
const SUSPENSION_WRITES = 6;

/** What a run has cost so far, by `prices`. Pure; the formula is explained in docs/cost.md. */
export function runCost(run: Run, { prices, memoryMb }: CostBasis): RunCost {
  const { transitions, suspensions, calls } = run.work ?? { transitions: 0, suspensions: 0, calls: {} };
  const lambda = lambdaOf(run, memoryMb, suspensions, calls);
  const { reads, writes } = requestUnits(run, suspensions, calls);
  const modelUsd = run.usage.costUsd;
  const transitionsUsd = perMillion(transitions, prices.transitions_per_million);
  const lambdaUsd = lambda.gbSeconds * prices.lambda_gb_second + perMillion(lambda.invocations, prices.lambda_requests_per_million);
  const dynamodbUsd = perMillion(reads, prices.dynamodb_reads_per_million) + perMillion(writes, prices.dynamodb_writes_per_million);
  return {
    modelUsd,
    transitions,
    transitionsUsd,
    lambdaMs: Math.round(lambda.ms),
    lambdaUsd,
    dynamodbReads: reads,
    dynamodbWrites: writes,
    dynamodbUsd,
    totalUsd: modelUsd + transitionsUsd + lambdaUsd + dynamodbUsd,
    estimated: [
      ...(run.usage.estimated ? (['model'] as const) : []),
      // A run that an earlier version began was not counted from its first step.
      ...(run.work === undefined || run.work.since !== undefined ? (['transitions'] as const) : []),
      'lambda',
      'dynamodb',
    ],
  };
}

type Calls = NonNullable<Run['work']>['calls'];

function lambdaOf(run: Run, memoryMb: CostBasis['memoryMb'], suspensions: number, calls: Calls) {
  const parts = [
    { name: 'reason', count: run.step, ms: run.timings.modelMs + run.step * LAMBDA_OVERHEAD_MS.reason },
    { name: 'suspend', count: suspensions, ms: suspensions * LAMBDA_OVERHEAD_MS.suspend },
    ...Object.entries(calls).map(([name, { count, ms }]) => ({ name, count, ms: ms + count * LAMBDA_OVERHEAD_MS.tool })),
  ];
  return {
    ms: sum(parts.map(({ ms }) => ms)),
    invocations: sum(parts.map(({ count }) => count)),
    gbSeconds: sum(parts.map(({ name, ms }) => (memoryMb(name) / 1024) * (ms / 1000))),
  };
}

function requestUnits(run: Run, suspensions: number, calls: Calls): { reads: number; writes: number } {
  // The item as it stands: it grows little from step to step.
  const item = jsonBytes(run);
  const callCount = sum(Object.values(calls).map(({ count }) => count));
  const iterations = run.frames[0]?.iterations ?? 0;
  // An update is billed by the whole item, not by what it changes.
  const commit = Math.ceil(item / WRITE_UNIT_BYTES);
  return {
    reads:
      run.step * (STEP_READS + Math.ceil(item / READ_UNIT_BYTES)) +
      iterations * ITERATION_READS +
      Math.ceil(run.usage.promptTokens / PROMPT_TOKENS_PER_READ),
    writes: run.step * (STEP_WRITES + commit) + callCount * CALL_WRITES + iterations * ITERATION_WRITES + suspensions * SUSPENSION_WRITES,
  };
}

const perMillion = (count: number, usd: number): number => (count * usd) / 1_000_000;
const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
