import type { Suspension } from '../../lib/core/guard/approvals/suspension.ts';
import { type Constraints, type MergedConstraints, mergeConstraints } from '../../lib/core/guard/constraints.ts';
import type { Checker, Decision, GuardContext } from '../../lib/core/guard/decision.ts';
import { callHash, type PreflightCall, type PreflightInput } from '../../lib/core/guard/preflight.ts';
import type { JsonObject } from '../../lib/core/json.ts';
import type { Run } from '../../lib/core/loop/run.ts';
import { noUsage } from '../../lib/core/loop/usage.ts';

export const RUN_ID = `r-${'0'.repeat(26)}`;
export const SUSPENSION_ID = `${RUN_ID}-3`;
export const T0 = 1_800_000_000_000;
export const TTL_MS = 60_000;

/** The app's constraints, merged. */
export function appConstraints(guard: Constraints['guard']): MergedConstraints {
  return mergeConstraints([{ layer: 'app', constraints: guard ? { guard } : {} }]);
}

export function toolContext(
  tool: Partial<NonNullable<GuardContext['tool']>> & { name: string },
  rest: Partial<GuardContext> = {},
): GuardContext {
  const full = { args: {}, sessionId: 's', nodePath: 'main/c1-0', aliases: [], effectTags: [], hash: 'h', ...tool };
  return { action: 'tool_call', usage: noUsage, metadata: {}, tool: full, approval: { needsConfirm: false }, ...rest };
}

/** A checker that gives the same answer to every tool call it is asked about. */
export function fixedChecker(name: string, answer: (context: GuardContext) => [Decision, string] | unknown): Checker {
  return { name, check: async (_action, context) => answer(context) as [Decision, string], reset: () => undefined };
}

export function preflightCall(index: number, tool: string, rest: Partial<PreflightCall> = {}): PreflightCall {
  const callId = `c1-${index}`;
  const args: JsonObject = rest.arguments ?? {};
  const hash = callHash(RUN_ID, callId, tool, args);
  return {
    callId,
    tool,
    arguments: args,
    hash,
    aliases: [],
    effectTags: [],
    nodePath: `main/${callId}`,
    counted: false,
    approvedHash: undefined,
    ...rest,
  };
}

export function preflightInput(calls: readonly PreflightCall[], rest: Partial<PreflightInput> = {}): PreflightInput {
  return { calls, constraints: appConstraints({}), policies: [], usage: noUsage, state: {}, sessionId: 's', onDeny: 'batch', ...rest };
}

/** A run that waits, at step 3, for the suspension that step opened. */
export function waitingRun(changes: Partial<Run> = {}): Run {
  return {
    v: 1,
    tenant: 't1',
    runId: RUN_ID,
    sessionId: 's1',
    agent: 'default',
    input: 'do it',
    principal: 'alice',
    requestHash: 'x',
    createdAt: T0,
    constraints: appConstraints({}),
    status: 'waiting',
    runSeq: 1,
    step: 3,
    attempt: 'a',
    execution: 1,
    historyEvents: 0,
    plan: { next: 'suspend', suspensionId: SUSPENSION_ID },
    frames: [{ kind: 'agent', namespace: 'main', agent: 'default', iterations: 1, toolCalls: 0, usage: noUsage, repeats: [] }],
    guard: {},
    usage: noUsage,
    effects: {},
    stateChanges: {},
    activeMs: 0,
    timings: { modelMs: 0, guardMs: 0, queueMs: 0, toolMs: 0, personMs: 0 },
    events: [],
    updatedAt: T0,
    dueAt: T0 + TTL_MS,
    ...changes,
  };
}

export function openSuspension(callIds: readonly string[] = ['c3-0'], changes: Partial<Suspension> = {}): Suspension {
  const approvals = callIds.map((callId) => [
    callId,
    {
      callId,
      kind: 'tool' as const,
      tool: 'write_file',
      arguments: { path: 'a.md' },
      argumentsCut: false,
      reason: 'tool policy',
      hash: `hash of ${callId}`,
      status: 'pending' as const,
      requestedAt: T0,
      expiresAt: T0 + TTL_MS,
    },
  ]);
  return {
    v: 1,
    suspensionId: SUSPENSION_ID,
    tenant: 't1',
    runId: RUN_ID,
    sessionId: 's1',
    principal: 'alice',
    createdAt: T0,
    approvals: Object.fromEntries(approvals),
    tokens: [],
    dueAt: T0 + TTL_MS,
    ...changes,
  };
}
