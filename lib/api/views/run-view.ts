import * as z from 'zod';
import { type RunCost, runCostSchema } from '../../core/cost/run-cost.ts';
import { codes } from '../../core/errors.ts';
import { mergedConstraintsSchema } from '../../core/guard/constraints.ts';
import { callIdSchema, runIdSchema, sessionIdSchema } from '../../core/ids.ts';
import { outcomes, type Run } from '../../core/loop/run.ts';
import { runConstraints } from '../../core/loop/step.ts';
import { usageSchema } from '../../core/loop/usage.ts';
import { schemaNames } from '../schema-names.ts';
import { type ApprovalView, approvalViewSchema } from './approval-view.ts';

/** A run that is being started shows as running. */
export const shownStatuses = ['running', 'waiting', 'succeeded', 'failed', 'cancelled', 'limited'] as const;
const statusSchema = z.enum(shownStatuses);

/** What starting and cancelling answer. */
export const runBriefSchema = z
  .object({ runId: runIdSchema, sessionId: sessionIdSchema, status: statusSchema })
  .register(schemaNames, { id: 'RunBrief' });

/** A line of the list of runs. Times are ms since 1970, cost is in USD. */
export const runSummarySchema = runBriefSchema
  .extend({
    agent: z.string(),
    input: z.string().describe('Its beginning'),
    outcome: z.enum(outcomes).optional(),
    cost: z.number(),
    createdAt: z.number(),
    updatedAt: z.number(),
    endedAt: z.number().optional(),
  })
  .register(schemaNames, { id: 'RunSummary' });

/** A call whose tool is at work. */
const callInFlightSchema = z.object({
  callId: callIdSchema,
  tool: z.string(),
  category: z.string(),
  namespace: z.string().describe('The frame that asked for it'),
  startedAt: z.number().optional(),
});

export const runViewSchema = runSummarySchema
  .extend({
    input: z.string(),
    principal: z.string().describe('Who started it'),
    step: z.int(),
    iterations: z.int(),
    toolCalls: z.int(),
    answer: z.string().optional(),
    error: z.object({ code: z.enum(codes), message: z.string() }).optional(),
    usage: usageSchema,
    costs: runCostSchema.describe('USD: the model, and what AWS takes by the configured prices; on a laptop, what it would take'),
    effects: z.record(z.string(), z.int()).describe('Effect tag to successful calls'),
    constraints: mergedConstraintsSchema.describe('What holds for the run, and in `origins` which layer each part came from'),
    approvals: z.array(approvalViewSchema).describe('Decisions the run waits for'),
    callsInFlight: z.array(callInFlightSchema),
    timings: z.object({ modelMs: z.number(), guardMs: z.number(), queueMs: z.number(), toolMs: z.number(), personMs: z.number() }),
    cancelRequestedAt: z.number().optional(),
  })
  .register(schemaNames, { id: 'Run' });
export type RunView = z.infer<typeof runViewSchema>;

const LIST_INPUT_CHARACTERS = 200;

export function runBrief(run: Run): z.infer<typeof runBriefSchema> {
  return { runId: run.runId, sessionId: run.sessionId, status: run.status === 'starting' ? 'running' : run.status };
}

export function runSummary(run: Run): z.infer<typeof runSummarySchema> {
  return {
    ...runBrief(run),
    agent: run.agent,
    input: run.input.slice(0, LIST_INPUT_CHARACTERS).toWellFormed(),
    ...(run.outcome === undefined ? {} : { outcome: run.outcome }),
    cost: run.usage.costUsd,
    createdAt: run.createdAt,
    updatedAt: run.updatedAt,
    ...(run.endedAt === undefined ? {} : { endedAt: run.endedAt }),
  };
}

/** `approvals` are those of the suspension that the run's plan names. */
export function runView(run: Run, approvals: readonly ApprovalView[], costs: RunCost): RunView {
  const root = run.frames[0];
  return {
    ...runSummary(run),
    input: run.input,
    principal: run.principal,
    step: run.step,
    iterations: root?.iterations ?? 0,
    toolCalls: root?.toolCalls ?? 0,
    ...(run.answer === undefined ? {} : { answer: run.answer }),
    ...(run.error === undefined ? {} : { error: run.error }),
    usage: run.usage,
    costs,
    effects: run.effects,
    constraints: runConstraints(run),
    approvals: approvals.filter((approval) => approval.status === 'pending'),
    callsInFlight: callsInFlight(run),
    timings: run.timings,
    ...(run.cancelRequestedAt === undefined ? {} : { cancelRequestedAt: run.cancelRequestedAt }),
  };
}

export function callsInFlight(run: Run): RunView['callsInFlight'] {
  return run.frames.flatMap((frame) =>
    (frame.batch?.calls ?? [])
      .filter((call) => call.state === 'inflight')
      .map(({ callId, tool, category, startedAt }) => ({
        callId,
        tool,
        category,
        namespace: frame.namespace,
        ...(startedAt === undefined ? {} : { startedAt }),
      })),
  );
}
