import { readTree } from '../../lib/adapters/skills/tree-file.ts';
import type { TreeSkill } from '../../lib/core/loop/deps.ts';
import type { Run } from '../../lib/core/loop/run.ts';
import { recoverAll } from '../../lib/core/loop/sweep.ts';
import type { ModelRequest } from '../../lib/core/ports/model.ts';
import type { OnUse, RigTool, Turn } from './loop-rig.ts';
import { ended, type Faults, LoopRig, NO_FAULTS } from './loop-rig.ts';
import { stateViolations, violationsOf } from './schedule-checks.ts';
import { seededRandom } from './time.ts';

/** What one schedule came to. `violations` is empty when everything held. */
export interface ScheduleReport {
  readonly seed: number;
  readonly violations: readonly string[];
  /** Operations that could have been hit by a fault. */
  readonly operations: number;
}

const TOOLS: readonly RigTool[] = [
  { definition: { name: 'read', parallelSafe: true, idempotent: true } },
  { definition: { name: 'write' } },
  { definition: { name: 'guarded' } },
  { definition: { name: 'banned' } },
  {
    definition: { name: 'broken' },
    handle: () => {
      throw new Error('this tool always fails');
    },
  },
];
const NAMES = [...TOOLS.map((tool) => tool.definition.name), 'unknown', 'run_bt_skill'];

/** A procedure with people, tools and a delay in it; its frame lives and dies under the same faults. */
const TREE = `
root:
  type: sequence
  children:
    - { type: set, key: notes, value: "{{doc}}", session: true }
    - { type: set, key: place, value: 7, session: true }
    - type: parallel
      success: all
      children: [ { type: tool, tool: read }, { type: tool, tool: write } ]
    - type: approval
      phase: before
      on_reject: success_skip
      title: Go on?
      child: { type: retry, attempts: 2, delay_s: 1, child: { type: tool, tool: guarded } }
    - { type: inverter, child: { type: tool, tool: broken } }
    - { type: timeout, name: help, ms: 20000, child: { type: agent, task: Help, output_key: helped } }
    - { type: set, key: skill_result, value: done }
`;
const PROCEDURE: TreeSkill = {
  name: 'procedure',
  description: 'A procedure.',
  tree: readTree(TREE, 'tree.yaml'),
  inputs: undefined,
  outputs: undefined,
  resultKey: 'skill_result',
  constraints: { max_iterations: 3, guard: { max_tool_calls: 6 } },
};
/** Larger than what stands in the items of run and session. */
const DOCUMENT = 'word '.repeat(1_000);
const TTL_MS = 60_000;
/** Rounds of sweep after which everything must have ended. */
const ROUNDS = 60;

class Killed extends Error {}

const callOf = (name: string, n: number) =>
  [name, name === 'run_bt_skill' ? { skill: 'procedure', inputs: { doc: DOCUMENT } } : { n }] as const;

/**
 * One run under a seed: what the LLM asks, what people decide and when, where faults strike. `strike` names the
 * operations that fail (by number); absent, the seed chooses. The same seed plays the same schedule.
 */
export async function playSchedule(seed: number, strike?: readonly number[], onUse?: OnUse): Promise<ScheduleReport> {
  const random = seededRandom(seed);
  const pick = (below: number): number => Math.floor(random.number() * below);
  const turns = Array.from(
    { length: 1 + pick(3) },
    (): Turn => ({
      text: 'thinking',
      calls: Array.from({ length: 1 + pick(4) }, () => callOf(NAMES[pick(NAMES.length)] ?? 'read', pick(1000))),
    }),
  );
  const helps: Turn[] = pick(2) === 0 ? [] : [{ text: 'helping', calls: [callOf(pick(2) === 0 ? 'guarded' : 'write', pick(1000))] }];
  const prompts: string[] = [];
  const rig = new LoopRig({
    seed,
    ...(onUse === undefined ? {} : { onUse }),
    tools: TOOLS,
    trees: [PROCEDURE],
    config: {
      approvals: { ttl_ms: TTL_MS },
      agents: { default: { on_deny: pick(2) === 0 ? 'batch' : 'call' } },
      constraints: { guard: { tool_policy: { guarded: 'confirm', banned: 'deny' } } },
      // So low that an execution has to hand over again and again.
      limits: { history_events: pick(4) === 0 ? 1_200 : 20_000 },
    },
    turns: (request, turn) => {
      prompts.push(...brokenPrompt(request));
      const last = request.messages.findLast(({ role }) => role === 'user');
      if (last?.role === 'user' && last.text === 'Help') return helps[turn] ?? 'helped';
      return turns[turn] ?? 'the end';
    },
  });
  let operations = 0;
  const strikes = new Set(strike ?? Array.from({ length: pick(3) }, () => pick(120)));
  const hit = (): void => {
    if (strikes.has(operations++)) throw new Killed();
  };
  const twice = pick(3) === 0;
  const faults: Faults = {
    before: hit,
    lost: hit,
    twice: () => twice && pick(3) === 0,
    async yield() {
      for (let turnsToWait = twice ? pick(4) : 0; turnsToWait > 0; turnsToWait--) await Promise.resolve();
    },
  };
  rig.faults = faults;
  const run = await started(rig, seed);
  const { decisions, stopped } = await act(rig, run.runId, pick);
  rig.faults = NO_FAULTS;
  const final = await finish(rig, run.runId);
  return {
    seed,
    operations,
    violations: [
      ...prompts,
      ...stopped(),
      ...(await violationsOf(rig, final, decisions)),
      ...(await stateViolations(rig, final, DOCUMENT)),
    ],
  };
}

async function started(rig: LoopRig, seed: number): Promise<Run> {
  for (;;) {
    try {
      return await rig.start('go', { sessionId: 's1', idempotencyKey: `k${seed}` });
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
    }
  }
}

/** People, sweep and the machine take turns, in an order the seed chooses. Who is killed comes again later. */
async function act(rig: LoopRig, runId: string, pick: (below: number) => number): Promise<Acted> {
  const decisions = new Map<string, string>();
  const cancelAt = pick(4) === 0 ? pick(20) : -1;
  const crashAt = pick(3) === 0 ? pick(20) : -1;
  const policyAt = pick(3) === 0 ? pick(20) : -1;
  let stopped: Acted['stopped'] = () => [];
  for (let round = 0; round < 40; round++) {
    try {
      if (round === cancelAt) await rig.cancel(runId);
      // The engine on a laptop stops with all it holds in memory; whoever starts it again recovers.
      if (round === crashAt) rig.executions.clear();
      if (round >= crashAt && crashAt >= 0 && rig.executions.size === 0) await recoverAll(rig.as('sweep'));
      if (round === policyAt) stopped = await stopWrites(rig, runId);
      const pending = await rig.pending(runId);
      const approvalId = pending[pick(Math.max(1, pending.length))];
      if (approvalId !== undefined && pick(2) === 0) {
        const decision = pick(2) === 0 ? 'approve' : 'reject';
        const made = { approvalId, decision, ...(decision === 'approve' && pick(3) === 0 ? { arguments: { n: -1 } } : {}) } as const;
        await rig.decide([made]);
        decisions.set(approvalId, decision);
        if (pick(3) === 0) await rig.decide([made]);
      }
      if (pick(6) === 0) await rig.sweep();
      if (pick(8) === 0) rig.clock.advance(pick(2) === 0 ? TTL_MS : 5_000);
      for (const name of rig.executions.keys()) if (pick(3) > 0) await rig.advance(name);
    } catch (error) {
      if (!(error instanceof Killed || isExpected(error))) throw error;
    }
  }
  return { decisions, stopped };
}

interface Acted {
  readonly decisions: Map<string, string>;
  /** What ran although a live policy had stopped it before. */
  stopped(): string[];
}

/** Denies `write` while none is under way: none may begin any more, in whichever frame. */
async function stopWrites(rig: LoopRig, runId: string): Promise<Acted['stopped']> {
  if ((await rig.get(runId)).plan?.next === 'act') return () => [];
  const guard = { tool_policy: { write: 'deny' as const } };
  rig.stores.state.policies.set('t1', { v: 1, version: 1, guard, updatedAt: rig.clock.now(), updatedBy: 'ops' });
  const before = new Set(rig.handled.keys());
  return () =>
    [...rig.handledTools]
      .filter(([callId, tool]) => tool === 'write' && !before.has(callId))
      .map(([callId]) => `${callId} write ran after it was denied`);
}

/** Answers that a person may get who comes too late. */
function isExpected(error: unknown): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    ['EXPIRED', 'ALREADY_DECIDED', 'CONFLICT', 'NOT_FOUND', 'BAD_REQUEST'].includes(String(error.code))
  );
}

async function finish(rig: LoopRig, runId: string): Promise<Run> {
  for (let round = 0; round < ROUNDS; round++) {
    const run = await rig.settle(runId);
    if (ended(run) && round > 3) break;
    rig.clock.advance(10 * 60_000);
    await rig.sweep();
  }
  // Long enough for every lease of a killed attempt to lapse.
  rig.clock.advance(60 * 60_000);
  return rig.settle(runId);
}

/** What a provider would refuse: a call without its result in the next message, a result of no call, an id twice. */
export function brokenPrompt(request: ModelRequest): string[] {
  const found: string[] = [];
  const seen = new Set<string>();
  if (request.messages[0]?.role !== 'user') found.push('the prompt does not begin with the user');
  request.messages.forEach((message, index) => {
    const next = request.messages[index + 1];
    if (message.role === 'assistant' && message.calls.length > 0) {
      const results = next?.role === 'tool' ? next.results.map((result) => result.id) : [];
      if (message.calls.map((call) => call.id).join() !== results.join()) found.push(`message ${index}: calls and results differ`);
      for (const call of message.calls) {
        if (seen.has(call.id)) found.push(`the id ${call.id} is used twice`);
        seen.add(call.id);
      }
    }
    const before = request.messages[index - 1];
    if (message.role === 'tool' && !(before?.role === 'assistant' && before.calls.length > 0))
      found.push(`message ${index}: results of no calls`);
  });
  return found;
}
