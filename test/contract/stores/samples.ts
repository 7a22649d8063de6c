import { randomBytes } from 'node:crypto';
import type { Approval, Suspension } from '../../../lib/core/guard/approvals/suspension.ts';
import { runIdFrom, suspensionIdOf } from '../../../lib/core/ids.ts';
import type { AgentFrame } from '../../../lib/core/loop/frames.ts';
import type { Message } from '../../../lib/core/loop/message.ts';
import type { Run } from '../../../lib/core/loop/run.ts';
import type { Session } from '../../../lib/core/loop/session.ts';
import { noUsage } from '../../../lib/core/loop/usage.ts';
import type { MessageWrite } from '../../../lib/core/ports/run-store.ts';

/** What a stand-in may lack. A skipped test says so; the real store lacks nothing. */
export interface Abilities {
  /** Refuses what is larger than the limits. */
  readonly sizes: boolean;
  /** A cursor is good only for the list it came from. */
  readonly cursors: boolean;
}
export const everything: Abilities = { sizes: true, cursors: true };

let tenants = 0;
/** A tenant that no other test uses. */
export const newTenant = (): string => `tenant-${tenants++}-${randomBytes(4).toString('hex')}`;
export const newRunId = (): string => runIdFrom(randomBytes(20));

export const mainFrame: AgentFrame = {
  kind: 'agent',
  namespace: 'main',
  agent: 'default',
  iterations: 0,
  toolCalls: 0,
  usage: noUsage,
  repeats: [],
};

export function newRun(tenant: string, over: Partial<Run> = {}): Run {
  return {
    v: 1,
    tenant,
    runId: newRunId(),
    sessionId: 's-1',
    agent: 'default',
    input: 'say hello',
    principal: 'tester',
    requestHash: 'hash',
    createdAt: 1_000,
    constraints: {
      max_iterations: 25,
      timeout: 60_000,
      max_messages: 80,
      history_limit: 20,
      guard: {
        tool_policy: [{ layer: 'app', rules: { 'web_*': ['confirm', { policy: 'deny', when: { type: 'object', required: [] } }] } }],
        max_tool_calls: null,
        budget: { total_tokens: null, prompt_tokens: 1e300, completion_tokens: null, cost_usd: 0.000_000_1 },
        flow: 'confirm',
      },
      execution: { network: true, timeout_s: null },
      origins: { 'guard.flow': 'default' },
    },
    status: 'running',
    runSeq: 1,
    step: 0,
    attempt: 'a0',
    execution: 1,
    historyEvents: 0,
    frames: [mainFrame],
    guard: {},
    usage: noUsage,
    effects: {},
    stateChanges: {},
    activeMs: 0,
    deadline: 61_000,
    timings: { modelMs: 0, guardMs: 0, queueMs: 0, toolMs: 0, personMs: 0 },
    events: [],
    updatedAt: 1_000,
    dueAt: 31_000,
    ...over,
  };
}

/** The run one step on, as committed by `attempt`. */
export const nextStep = (run: Run, attempt: string, over: Partial<Run> = {}): Run => ({ ...run, step: run.step + 1, attempt, ...over });

export const newSession = (run: Run, over: Partial<Session> = {}): Session => ({
  v: 1,
  tenant: run.tenant,
  sessionId: run.sessionId,
  createdAt: 1_000,
  activeRun: run.runId,
  runSeq: 1,
  state: {},
  ...over,
});

export const prefixOf = (runSeq: number, step: number, attempt: string, frame = 'main'): string =>
  `MSG#${frame}#${String(runSeq).padStart(6, '0')}#${String(step).padStart(6, '0')}#${attempt}#`;

export const userMessage = (text: string): Message => ({ role: 'user', text });
export const assistantMessage = (text: string, callIds: readonly string[] = []): Message => ({
  role: 'assistant',
  text,
  calls: callIds.map((callId) => ({ callId, tool: 'read_file', arguments: { path: 'a.txt' } })),
});
export const observation = (callId: string, data: string): Message => ({
  role: 'observation',
  callId,
  tool: 'read_file',
  result: { success: true, data, metadata: { toolName: 'read_file', duration: 1, truncated: false, timestamp: 1 } },
  untrusted: false,
});

export const writeOf = (prefix: string, prev: string | undefined, ...messages: Message[]): MessageWrite => ({ prefix, prev, messages });

export const newApproval = (callId: string, over: Partial<Approval> = {}): Approval => ({
  callId,
  kind: 'tool',
  tool: 'execute_shell',
  arguments: { command: 'ls' },
  argumentsCut: false,
  reason: 'policy: confirm',
  hash: `hash of ${callId}`,
  status: 'pending',
  requestedAt: 1_000,
  expiresAt: 10_000,
  ...over,
});

export function newSuspension(tenant: string, approvals: readonly Approval[], over: Partial<Suspension> = {}): Suspension {
  const runId = newRunId();
  return {
    v: 1,
    suspensionId: suspensionIdOf(runId, 3),
    tenant,
    runId,
    sessionId: 's-1',
    principal: 'tester',
    createdAt: 1_000,
    approvals: Object.fromEntries(approvals.map((approval) => [approval.callId, approval])),
    tokens: [],
    ...over,
  };
}
