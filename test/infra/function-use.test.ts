import { expect, it } from 'vitest';
import { createApp } from '../../lib/api/app.ts';
import { bearerAuth } from '../../lib/api/auth/bearer.ts';
import { everyPermission } from '../../lib/api/principal.ts';
import { suspend } from '../../lib/core/guard/approvals/suspend.ts';
import { type CoreFunctionName, FUNCTION_USE, type FunctionUse } from '../../lib/function-use.ts';
import { localApiServices } from '../../lib/runtime/local-api.ts';
import { LoopRig, NO_FAULTS, type OnUse, type Turn, watched } from '../support/loop-rig.ts';
import { memoryLinkStore } from '../support/memory-link-store.ts';
import { playSchedule } from '../support/schedule.ts';
import { treeSkill } from '../support/tree-skill.ts';
import { givenWorkspaces } from '../support/workspace.ts';

/** Schedules of faults, cancels, crashes and decisions; enough for every method to come up. */
const SEEDS = 60;
const SECRET = 'a-secret-of-the-test';

const used = new Map<string, Set<string>>();
const onUse: OnUse = (who, use) => void used.set(who, (used.get(who) ?? new Set()).add(use));

/** What is listed for a function, in the form of what is recorded. */
function listed(name: CoreFunctionName): string[] {
  const { stores, engine }: FunctionUse = FUNCTION_USE[name];
  const ofStores = Object.entries(stores).flatMap(([store, methods]) => methods.map((method) => `${store}.${method}`));
  return [...ofStores, ...engine.map((method) => `engine.${method}`)].filter((use) => !use.startsWith('ages.'));
}

const guarded: Turn[] = [{ calls: [['look', {}]] }, 'done'];
/** Leaves what it is given to later runs of the session. */
const keeps = treeSkill('keeps', 'root: { type: set, key: skill_result, value: "{{doc}}", session: true }', {
  inputs: { type: 'object', additionalProperties: true },
});
const rig = (turns: Turn[] = guarded) =>
  new LoopRig({
    turns,
    trees: [keeps],
    tools: ['look', 'peek'].map((name) => ({ definition: { name } })),
    config: { constraints: { guard: { tool_policy: { look: 'confirm' } } } },
    onUse,
  });

/** The execution of a run ends under it: while it waits for people, and while calls are in flight. */
async function closedRuns(settle: (of: LoopRig, runId: string) => Promise<unknown>): Promise<void> {
  for (const one of [rig(), rig([{ calls: [['peek', {}]] }, 'done'])]) {
    const { runId } = await one.start();
    const inFlight = async () => ['suspend', 'act'].includes((await one.get(runId)).plan?.next ?? '');
    while (!(await inFlight())) await one.advance(`${runId}-1`);
    await one.advance(`${runId}-1`);
    one.executions.set(`${runId}-1`, { at: 'closed', how: 'failed' });
    // Somebody else writes the permits meanwhile.
    let refused = false;
    const { guard } = one.deps;
    const putPermits: typeof guard.putPermits = async (next) => {
      if (refused) return guard.putPermits(next);
      refused = true;
      return false;
    };
    Object.assign(one.deps, { guard: { ...guard, putPermits } });
    await settle(one, runId);
    expect(await one.get(runId)).toMatchObject({ outcome: 'error' });
  }
}

/** Whoever started them died before they had their session; of the second, somebody else has taken it since. */
async function neverStarted(): Promise<void> {
  const one = rig();
  const dying = async (sessionId: string): Promise<void> => {
    one.faults = {
      ...NO_FAULTS,
      before: (operation) => {
        if (operation === 'getSession') throw new Error('killed');
      },
    };
    await expect(one.start('go', { sessionId })).rejects.toThrow('killed');
    one.faults = NO_FAULTS;
  };
  await dying('s1');
  await dying('s2');
  await one.run('go', { sessionId: 's2' });
  await expect(one.start('go', { sessionId: 's2' })).rejects.toThrow('busy');
  for (let minute = 0; minute < 10; minute++) {
    one.clock.advance(60_000);
    await one.sweep();
  }
  expect([...one.stores.state.runs.values()].map(({ status }) => status)).toEqual(['running', 'waiting']);
}

/** Decisions meet tokens that nobody waits with any more, while the run still stands where it was. */
async function goneTokens(): Promise<void> {
  const one = rig();
  const { runId } = await one.run();
  const name = `${runId}-1`;
  const state = one.executions.get(name);
  if (state?.at !== 'suspended') throw new Error('it does not wait');
  one.executions.set(name, { ...state, token: 'another' });
  await one.decide([{ approvalId: (await one.pending(runId))[0] ?? '', decision: 'approve' }]);
  await suspend(one.as('suspend'), { ctx: state.output.ctx, token: 'gone', execution: name });
  await suspend(one.as('suspend'), { ctx: state.output.ctx, token: 'another', execution: name });
  expect((await one.settle(runId)).status).toBe('succeeded');
}

/** The engine was stopped while a run waited for people: it waits on, a step later, under the same id. */
async function stoppedEngine(): Promise<void> {
  const one = rig();
  const { runId } = await one.run();
  one.executions.clear();
  one.clock.advance(60 * 60_000);
  await one.sweep();
  expect(await one.settle(runId)).toMatchObject({ status: 'waiting' });
  await one.decide([{ approvalId: (await one.pending(runId))[0] ?? '', decision: 'approve' }]);
  expect(await one.settle(runId)).toMatchObject({ status: 'succeeded' });
}

/** What the guard goes by is read again after a model that takes its time, and an item that cannot be read is put off. */
async function slowAndUnreadable(): Promise<void> {
  const one: LoopRig = new LoopRig({
    turns: (_request, turn) => {
      one.clock.advance(60_000);
      return turn === 0 ? { calls: [['look', {}]] } : 'done';
    },
    onUse,
  });
  const { runId } = await one.start();
  one.clock.advance(60 * 60_000);
  one.faults = {
    ...NO_FAULTS,
    before: (operation) => {
      if (operation === 'getRun') throw new Error('unreadable');
    },
  };
  expect(await one.sweep()).toMatchObject({ failed: 1 });
  one.faults = NO_FAULTS;
  expect(await one.settle(runId)).toMatchObject({ status: 'succeeded' });
}

async function everyRoute(): Promise<void> {
  const one = rig();
  const links = watched(memoryLinkStore(one.stores.state), (method) => onUse('api', `links.${method}`));
  const deps = one.as('api');
  const services = localApiServices(
    { ...deps, engine: { ...one.deps.engine, abortRun: () => undefined } },
    links,
    (await givenWorkspaces()).workspaces,
    false,
  );
  const auth = bearerAuth([{ secret: SECRET, principal: { tenant: 't1', principal: 'bob', permissions: everyPermission } }]);
  const app = createApp(services, { auth });
  const ask = async (method: string, path: string, body?: object, headers: Record<string, string> = {}): Promise<number> => {
    const all = { authorization: `Bearer ${SECRET}`, 'content-type': 'application/json', ...headers };
    const answer = await app.fetch(
      new Request(`http://localhost${path}`, { method, headers: all, ...(body ? { body: JSON.stringify(body) } : {}) }),
    );
    return answer.status;
  };
  const { sessionId } = await one.run('keep', { tree: { skill: 'keeps', inputs: { doc: 'word '.repeat(1_000) } } });
  const { runId } = await one.run('go', { sessionId });
  const [approvalId] = await one.pending(runId);
  const asked: [string, string, (object | undefined)?, Record<string, string>?][] = [
    ['POST', '/runs', { input: 'go' }],
    ['GET', '/runs'],
    ['GET', `/runs/${runId}`],
    ['GET', `/runs/${runId}/events`],
    ['GET', `/runs/${runId}/export`],
    ['GET', '/approvals'],
    ['GET', `/a/${runId}-1?t=${'0'.repeat(64)}`, undefined, { authorization: 'none' }],
    ['POST', `/approvals/${approvalId}`, { decision: 'approve' }],
    ['POST', `/runs/${runId}/cancel`],
    ['GET', '/policy'],
    ['PUT', '/policy', { guard: { tool_policy: { look: 'deny' } } }, { 'if-match': '"0"' }],
    ['PUT', '/policy', { guard: {} }, { 'if-match': '"1"' }],
    ['GET', '/policy/history'],
    ['GET', `/sessions/${sessionId}`],
  ];
  for (const [method, path, body, headers] of asked)
    expect(`${method} ${path}: ${await ask(method, path, body, headers)}`).toMatch(path.startsWith('/a/') ? /: 404$/ : /: 20[0-2]$/);
  await one.settle(runId);
  expect(await ask('DELETE', `/sessions/${sessionId}`)).toBe(204);
}

it('what a function may call of the stores and the engine is what it calls', { timeout: 120_000 }, async () => {
  for (let seed = 1; seed <= SEEDS; seed++) await playSchedule(seed, undefined, onUse);
  await closedRuns((one, runId) => one.settleClosed({ tenant: 't1', runId }, `${runId}-1`));
  await closedRuns(async (one) => {
    one.clock.advance(60 * 60_000);
    await one.sweep();
  });
  await neverStarted();
  await goneTokens();
  await stoppedEngine();
  await slowAndUnreadable();
  await everyRoute();
  const names = Object.keys(FUNCTION_USE) as CoreFunctionName[];
  expect(names.map((name) => [name, [...(used.get(name) ?? [])].sort()])).toEqual(names.map((name) => [name, listed(name).sort()]));
});
