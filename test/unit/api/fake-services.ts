import type { RequestAbout } from '../../../lib/api/about.ts';
import type { AuditEntry } from '../../../lib/api/audit.ts';
import type { ApiServices, DecideRequest, StartRunRequest } from '../../../lib/api/services.ts';
import { awsPricesSchema } from '../../../lib/core/cost/prices.ts';
import { type RunCost, runCost } from '../../../lib/core/cost/run-cost.ts';
import { type Code, HandrailError } from '../../../lib/core/errors.ts';
import { type Approval, type Suspension, suspensionSchema } from '../../../lib/core/guard/approvals/suspension.ts';
import type { MergedConstraints } from '../../../lib/core/guard/constraints.ts';
import { DEPLOYMENT, type LivePolicy } from '../../../lib/core/guard/policy.ts';
import { defineTool } from '../../../lib/core/hands/define-tool.ts';
import { parseApprovalId, runIdFrom, suspensionIdOf } from '../../../lib/core/ids.ts';
import type { PlacedEvent } from '../../../lib/core/loop/event.ts';
import { parsePrefix } from '../../../lib/core/loop/keys.ts';
import { type Run, runSchema } from '../../../lib/core/loop/run.ts';
import type { Session } from '../../../lib/core/loop/session.ts';
import { noUsage } from '../../../lib/core/loop/usage.ts';
import type { MessageWrite } from '../../../lib/core/ports/run-store.ts';
import type { SessionFiles } from '../../../lib/core/ports/session-files.ts';
import type { SkillCatalogue } from '../../../lib/core/skills/skill.ts';

/** The token that opens every suspension of the fake. */
export const TOKEN = 'ab'.repeat(32);
export const NOW = 1_760_000_000_000;

const constraints: MergedConstraints = {
  max_iterations: 25,
  timeout: 3_600_000,
  max_messages: 80,
  history_limit: 20,
  guard: {
    tool_policy: [{ layer: 'app', rules: { write_file: ['confirm'] } }],
    max_tool_calls: null,
    budget: { total_tokens: null, prompt_tokens: null, completion_tokens: null, cost_usd: 1 },
    flow: 'confirm',
  },
  execution: { network: false, timeout_s: 20 },
  origins: { max_iterations: 'default', 'guard.budget.cost_usd': 'app', 'execution.network': 'skill', 'execution.timeout_s': 'app' },
};

/** A run as the store would give it. `n` makes its id. */
export function fakeRun(n: number, over: Partial<Run> = {}): Run {
  const runId = over.runId ?? runIdFrom(new Uint8Array(20).fill(n));
  return runSchema.parse({
    v: 1,
    tenant: 'alpha',
    runId,
    sessionId: `s-${n}`,
    agent: 'default',
    input: `Task ${n}`,
    principal: 'alpha:owner',
    requestHash: 'h',
    createdAt: NOW - 60_000,
    constraints,
    status: 'running',
    runSeq: 1,
    step: 3,
    attempt: 'a',
    execution: 1,
    historyEvents: 20,
    frames: [
      {
        kind: 'agent',
        namespace: 'main',
        agent: 'default',
        iterations: 2,
        toolCalls: 3,
        usage: noUsage,
        repeats: [],
        batch: {
          runSeq: 1,
          step: 3,
          calls: [
            {
              callId: 'c3-0',
              tool: 'execute_python',
              category: 'code',
              state: 'inflight',
              hash: 'x',
              stage: 0,
              counted: true,
              startedAt: NOW - 12_000,
            },
            { callId: 'c3-1', tool: 'read_file', category: 'file', state: 'done', hash: 'y', stage: 0, counted: true },
          ],
        },
      },
    ],
    guard: {},
    usage: { ...noUsage, promptTokens: 1200, completionTokens: 90, totalTokens: 1290, costUsd: 0.0042 },
    effects: { 'fs.read': 2 },
    stateChanges: {},
    activeMs: 4_000,
    timings: { modelMs: 900, guardMs: 3, queueMs: 0, toolMs: 40, personMs: 0 },
    events: [],
    updatedAt: NOW - 1_000,
    ...over,
  } satisfies Run);
}

/** What a run cost by the default prices, in functions of 256 MB. */
export const fakeCost = (run: Run): RunCost => runCost(run, { prices: awsPricesSchema.parse({}), memoryMb: () => 256 });

/** The suspension of a run that waits: one approval per tool name. */
export function fakeSuspension(run: Run, tools: readonly string[], over: Partial<Approval> = {}): Suspension {
  const approvals = tools.map((tool, index): [string, Approval] => [
    `c3-${index}`,
    {
      callId: `c3-${index}`,
      kind: 'tool',
      tool,
      arguments: { path: 'report.md', content: '# Sales\n<script>alert(1)</script>' },
      argumentsCut: false,
      reason: `tool policy: ${tool} is confirm (app)`,
      hash: `secret-hash-${index}`,
      status: 'pending',
      requestedAt: NOW - 5_000,
      expiresAt: NOW + 86_400_000,
      ...over,
    },
  ]);
  return suspensionSchema.parse({
    v: 1,
    suspensionId: suspensionIdOf(run.runId, 3),
    tenant: run.tenant,
    runId: run.runId,
    sessionId: run.sessionId,
    principal: run.principal,
    createdAt: NOW - 5_000,
    approvals: Object.fromEntries(approvals),
    tokens: [{ token: 'task-token', execution: `${run.runId}-1`, at: NOW }],
  } satisfies Suspension);
}

export function fakeEvents(steps: number, perStep = 2): PlacedEvent[] {
  return Array.from({ length: steps * perStep }, (_, index): PlacedEvent => {
    const step = Math.floor(index / perStep) + 1;
    const n = index % perStep;
    return {
      type: n === 0 ? 'llm.call.completed' : 'tool.call.completed',
      at: NOW - 60_000 + index,
      data: { callId: `c${step}-${n}`, tool: 'read_file', result_preview: '<b>1,2</b>' },
      step,
      key: `EVT#${String(step).padStart(6, '0')}#0#${String(n).padStart(4, '0')}`,
    };
  });
}

export interface FakeServices extends Omit<ApiServices, 'linksDecide'> {
  readonly started: StartRunRequest[];
  readonly decided: DecideRequest[];
  readonly logged: unknown[];
  readonly audited: AuditEntry[];
  /** What the request that was answered last was about. */
  lastAbout: RequestAbout | undefined;
  readonly store: {
    runs: Run[];
    suspensions: Suspension[];
    events: PlacedEvent[];
    policies: Map<string, LivePolicy[]>;
    sessions: Session[];
    commits: MessageWrite[];
    files: Map<string, Uint8Array>;
  };
  /** Thrown by the next use case. */
  failWith: unknown;
  /** What `decide` answers next. */
  refuse: { code: Code; message: string; field?: string } | undefined;
  linksDecide: boolean;
}

const tool = defineTool({
  name: 'read_file',
  description: 'Reads a file.',
  parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
  category: 'file',
  parallelSafe: true,
  idempotent: true,
  effectTags: ['fs.read'],
});

const skills: SkillCatalogue = {
  v: 1,
  skills: [
    {
      kind: 'prompt',
      name: 'house-style',
      description: 'How texts are written here.',
      file: 'skills/house-style/SKILL.md',
      body: 'The body is not shown in lists.',
      requires: [],
      constraints: { guard: { max_tool_calls: 2 } },
      files: [{ path: 'references/words.md', bytes: 12, text: 'never shown' }],
    },
  ],
  reports: [
    { file: 'skills/house-style/SKILL.md', name: 'house-style', status: 'accepted', problems: [], warnings: [] },
    {
      file: 'skills/broken/SKILL.md',
      status: 'rejected',
      problems: [{ file: 'skills/broken/SKILL.md', line: 3, reason: 'description: there is none' }],
      warnings: [],
    },
  ],
};

/** Use cases and stores in memory that keep the promises of `ApiServices` and nothing more. */
export function fakeServices(): FakeServices {
  const store: FakeServices['store'] = {
    runs: [],
    suspensions: [],
    events: [],
    policies: new Map(),
    sessions: [],
    commits: [],
    files: new Map(),
  };
  const find = (tenant: string, runId: string) => store.runs.find((run) => run.tenant === tenant && run.runId === runId);
  const services: FakeServices = {
    started: [],
    decided: [],
    logged: [],
    audited: [],
    lastAbout: undefined,
    store,
    failWith: undefined,
    refuse: undefined,
    async startRun(request) {
      if (request.tree !== undefined && request.tree.skill !== 'release-check')
        throw new HandrailError('NOT_FOUND', 'there is no such tree skill');
      throwOnce(services);
      services.started.push(request);
      const run = fakeRun(100 + services.started.length, {
        tenant: request.tenant,
        status: 'starting',
        input: request.input,
        sessionId: request.sessionId ?? 's-new',
      });
      store.runs.push(run);
      return run;
    },
    async cancelRun({ tenant, runId }) {
      throwOnce(services);
      const run = find(tenant, runId);
      if (!run) throw new HandrailError('NOT_FOUND', 'there is nothing here that you may see');
      return { ...run, cancelRequestedAt: NOW };
    },
    async decide(request) {
      throwOnce(services);
      const { refuse } = services;
      services.refuse = undefined;
      if (refuse) throw new HandrailError(refuse.code, refuse.message, refuse.field === undefined ? {} : { field: refuse.field });
      services.decided.push(request);
      for (const decision of request.decisions) settle(store.suspensions, decision.approvalId, decision.decision, request);
    },
    runs: {
      getRun: async ({ tenant, runId }) => find(tenant, runId),
      async listRuns(tenant, query) {
        throwOnce(services);
        if (query.cursor !== undefined && query.cursor !== 'page2')
          throw new HandrailError('BAD_REQUEST', 'not a cursor of this list', { field: 'cursor' });
        const all = store.runs.filter((run) => run.tenant === tenant && (query.status === undefined || run.status === query.status));
        const start = query.cursor === undefined ? 0 : query.limit;
        return { items: all.slice(start, start + query.limit), cursor: all.length > start + query.limit ? 'page2' : undefined };
      },
      listCommits: async (_key, runSeq) => store.commits.filter(({ prefix }) => parsePrefix(prefix)?.runSeq === runSeq),
      readTranscript: async (_key, head) => {
        const commit = store.commits.find(({ prefix }) => prefix === head);
        return (commit?.messages ?? []).map((message, index) => ({ runSeq: 1, step: 1, index, message }));
      },
      getSession: async ({ tenant, sessionId }) =>
        store.sessions.find((session) => session.tenant === tenant && session.sessionId === sessionId),
      readEvents: async (_key, after) => store.events.filter((event) => event.step >= after),
    },
    guard: {
      getSuspension: async (id) => store.suspensions.find((suspension) => suspension.suspensionId === id),
      listSuspensions: async (tenant) => ({
        items: store.suspensions.filter((suspension) => suspension.tenant === tenant),
        cursor: undefined,
      }),
      getPolicy: async (owner) => store.policies.get(owner)?.at(-1),
      listKeptPolicies: async (owner) => ({ items: (store.policies.get(owner) ?? []).slice(0, -1).toReversed(), cursor: undefined }),
    },
    async changePolicy({ tenant, principal, scope, version, guard }) {
      throwOnce(services);
      if (scope === 'deployment' && tenant !== 'alpha') throw new HandrailError('FORBIDDEN', 'not the operator');
      const owner = scope === 'deployment' ? DEPLOYMENT : tenant;
      const versions = store.policies.get(owner) ?? [];
      if (versions.length !== version) throw new HandrailError('CONFLICT', 'changed meanwhile', { extra: { version: versions.length } });
      const policy: LivePolicy = { v: 1, version: version + 1, guard, updatedAt: NOW, updatedBy: principal };
      store.policies.set(owner, [...versions, policy]);
      return policy;
    },
    deployedGuard: { tool_policy: { write_file: 'confirm' } },
    nonTtyPending: true,
    operatorTenant: 'alpha',
    checkLink: async (id, token) =>
      token === TOKEN && store.suspensions.some(({ suspensionId }) => suspensionId === id)
        ? { state: 'open', by: 'link:0123abcd' }
        : { state: 'wrong' },
    linksDecide: true,
    async deleteSession({ tenant, sessionId }, announce) {
      throwOnce(services);
      const index = store.sessions.findIndex((session) => session.tenant === tenant && session.sessionId === sessionId);
      if (index === -1) throw new HandrailError('NOT_FOUND', 'there is nothing here that you may see');
      announce(store.runs.filter((run) => run.tenant === tenant && run.sessionId === sessionId).map(({ runId }) => runId));
      store.sessions.splice(index, 1);
    },
    files: fakeFiles(store.files),
    costOf: fakeCost,
    tools: () => [tool],
    refusedTools: () => [{ name: 'execute_shell', denied: ['execution.allowed_commands: "*"'] }],
    skills: () => skills,
    clock: { now: () => NOW },
    logger: { debug() {}, info() {}, warn() {}, error: (...line) => services.logged.push(line) },
    about: (fields) => {
      services.lastAbout = fields;
    },
    audit: (entry) => services.audited.push(entry),
    version: '0.0.0-test',
  };
  return services;
}

/** By `<tenant>/<session>/<path>`. */
function fakeFiles(files: Map<string, Uint8Array>): SessionFiles {
  return {
    async read({ tenant, sessionId }, path) {
      const found = files.get(`${tenant}/${sessionId}/${path}`);
      if (!found) throw new HandrailError('FILE_NOT_FOUND', `${path}: there is no such file`);
      return found;
    },
    async write({ tenant, sessionId }, path, data) {
      const key = `${tenant}/${sessionId}/${path}`;
      const created = !files.has(key);
      files.set(key, data);
      return { bytes: data.byteLength, created };
    },
    async list({ tenant, sessionId }) {
      const own = `${tenant}/${sessionId}/`;
      const mine = [...files].filter(([key]) => key.startsWith(own));
      return mine.map(([key, data]) => ({ path: key.slice(own.length), kind: 'file', bytes: data.byteLength, modifiedAt: NOW }));
    },
    erase: async () => false,
  };
}

function throwOnce(services: FakeServices): void {
  const error = services.failWith;
  services.failWith = undefined;
  if (error !== undefined) throw error;
}

function settle(suspensions: readonly Suspension[], approvalId: string, decision: string, request: DecideRequest): void {
  const { suspensionId = '', callId = '' } = parseApprovalId(approvalId) ?? {};
  const approval = suspensions.find((suspension) => suspension.suspensionId === suspensionId)?.approvals[callId];
  if (!approval) throw new HandrailError('NOT_FOUND', 'there is nothing here that you may see');
  approval.status = decision === 'approve' ? 'approved' : decision === 'reject' ? 'rejected' : 'answered';
  approval.decision = { by: request.principal, at: NOW, how: request.how };
}
