import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isJsonObject, type Json, type JsonObject } from '../../lib/core/json.ts';
import { suspendEventSchema } from '../../lib/core/loop/plan.ts';
import { engineRig, testLoop } from '../support/engine-rig.ts';
import { LoopRig } from '../support/loop-rig.ts';
import { type ReplayServer, replayServer, resultsIn } from '../support/replay.ts';
import { synthesize } from '../support/stacks.ts';

const HISTORY_EVENTS = 600;
const write = (path: string, content: string, mode = 'overwrite'): readonly [string, unknown] => ['write_file', { path, content, mode }];

describe('replays about task tokens and Step Functions', () => {
  let server: ReplayServer;
  beforeAll(async () => {
    server = await replayServer({
      constraints: { max_iterations: 60, guard: { tool_policy: { memory_write: 'confirm' } } },
      approvals: { ttl_ms: 2_000 },
      limits: { history_events: HISTORY_EVENTS },
    });
  });
  afterAll(() => server.close());

  it('R31: a second click is told what was decided, also long after', async () => {
    const { runId } = await server.play([{ calls: [['memory_write', { key: 'k', value: 'v' }]] }, 'done']);
    const [{ approvalId }] = await server.api.approvals(runId, 1);
    const click = (decision: string) => server.api.call('POST', `/approvals/${approvalId}`, { decision });
    const first = await Promise.all([click('approve'), click('approve'), click('reject')]);
    expect(first.map(({ status }) => status).filter((status) => status !== 200 && status !== 409)).toEqual([]);
    const run = await server.api.ended(runId);
    const stands = run.effects['memory.write'] === 1 ? 'approve' : 'reject';
    expect((await click(stands)).status).toBe(200);
    expect(await click(stands === 'approve' ? 'reject' : 'approve')).toMatchObject({ status: 409, body: { code: 'ALREADY_DECIDED' } });
    expect((await server.api.events(runId)).filter(({ type }) => type === 'approval.resolved')).toHaveLength(1);
  });

  it('R33: a run whose callback never comes expires by itself', async () => {
    const { runId, prompts } = await server.play([{ calls: [['memory_write', { key: 'k', value: 'v' }]] }, 'done']);
    expect(await server.api.ended(runId)).toMatchObject({ status: 'succeeded', answer: 'done' });
    expect(resultsIn(prompts[1])[0]?.text).toContain('APPROVAL_EXPIRED');
  });

  it('R33: every state that waits has a timeout, and no retry waits for the same people again', () => {
    const tasks = tasksOf(testLoop());
    expect(Object.keys(tasks).length).toBeGreaterThan(3);
    for (const task of Object.values(tasks)) expect(task['TimeoutSeconds']).toEqual(expect.any(Number));
    const waiting = Object.values(tasks).filter(({ Resource }) => String(Resource).endsWith('.waitForTaskToken'));
    expect(waiting).toHaveLength(1);
    expect(waiting[0]?.['Retry']).toMatchObject([{ ErrorEquals: ['States.Timeout'], MaxAttempts: 0 }, {}]);
  });

  it.each([
    ['ä', '"$(printf "\\303\\244")"'],
    ['€', '"$(printf "\\342\\202\\254")"'],
    ['a quotation mark', "'\"'"],
  ])('R35: a result just under 256 KB is cut by bytes of JSON before it becomes state data (%s)', async (_what, character) => {
    const code = `s=${character}; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do s="$s$s"; done; printf '%s' "$s"`;
    const { runId, prompts } = await server.play([{ calls: [['execute_shell', { code }]] }, 'done']);
    expect(await server.api.ended(runId)).toMatchObject({ status: 'succeeded', answer: 'done' });
    expect(resultsIn(prompts[1])).toMatchObject([{ isError: false }]);
  });

  it('R35: ten results of 50 KB, all of characters that JSON has to escape, share one state', async () => {
    const files = Array.from({ length: 10 }, (_, index) => `f${index}.txt`);
    const { runId, prompts } = await server.play([
      { calls: [write('f0.txt', '"\\'.repeat(30_000))] },
      { calls: files.slice(1).map((path) => ['execute_shell', { code: `cp f0.txt ${path}` }] as const) },
      { calls: files.map((path) => ['read_file', { path }] as const) },
      'done',
    ]);
    expect(await server.api.ended(runId)).toMatchObject({ status: 'succeeded', answer: 'done' });
    expect(resultsIn(prompts[3]).map(({ isError, text }) => [isError, text.length > 5_000])).toEqual(files.map(() => [false, true]));
  });

  it('R37: a model that never stops goes on in new executions and ends at its limit', { timeout: 120_000 }, async () => {
    const { runId } = await server.play((turn) => ({ text: `thought ${turn}`, calls: [['read_file', { path: `nowhere-${turn}` }]] }), {
      constraints: { max_iterations: 25 },
    });
    const run = await server.api.ended(runId);
    expect(run).toMatchObject({ status: 'limited', outcome: 'iteration_limit', answer: 'thought 24' });
    const executions = new Map<string, number>();
    for (const state of server.states(runId)) {
      const [execution = ''] = state.split('/');
      executions.set(execution, (executions.get(execution) ?? 0) + 1);
    }
    expect(executions.size).toBeGreaterThan(1);
    // A state writes five events or fewer.
    for (const states of executions.values()) expect(states * 5).toBeLessThan(HISTORY_EVENTS);
  });

  it('R37: three thousand turns stay far from 25,000 events', { timeout: 120_000 }, async () => {
    let turn = 0;
    const rig = new LoopRig({
      config: { constraints: { max_iterations: 3_000, max_messages: 6 } },
      turns: () => ({ calls: [['look', { turn: turn++ }]] }),
    });
    expect(await rig.run()).toMatchObject({ status: 'limited', outcome: 'iteration_limit' });
    const begins = rig.states.flatMap((state, index) => (state === 'Continue' ? [index] : []));
    expect(begins.length).toBeGreaterThan(0);
    const longest = Math.max(...[0, ...begins].map((begin, index) => ([...begins, rig.states.length][index] ?? 0) - begin));
    expect(longest * 5).toBeLessThan(25_000);
  });

  it.each(['goes on', 'fails'])('R39: an answer comes before the suspend function has ended, which then %s', async (then) => {
    const held = Promise.withResolvers<void>();
    const rig = engineRig([{ next: 'suspend' }, { next: 'finish' }], {
      suspend: async (event) => {
        await rig.engine.sendTaskSuccess(suspendEventSchema.pick({ token: true }).parse(event).token, { suspensionId: 's' });
        if (then === 'fails') throw new Error('the notice could not be sent');
        await held.promise;
      },
    });
    expect(await rig.run()).toMatchObject({ status: 'SUCCEEDED' });
    expect(rig.seen).toHaveLength(2);
    held.resolve();
  });

  it('R41: the functions that answer the machine and the machine that calls them synthesize without a circle', () => {
    const { agent } = synthesize();
    const circle = circleIn(agent.Resources);
    expect(circle).toBeUndefined();
  });
});

/** Task states by name, those inside Maps too. */
function tasksOf(definition: JsonObject): Record<string, JsonObject> {
  const states = definition['States'];
  if (!isJsonObject(states)) return {};
  return Object.entries(states).reduce<Record<string, JsonObject>>((found, [name, state]) => {
    if (!isJsonObject(state)) return found;
    if (isJsonObject(state['ItemProcessor'])) Object.assign(found, tasksOf(state['ItemProcessor']));
    if (state['Type'] === 'Task') found[name] = state;
    return found;
  }, {});
}

/** Logical ids that need each other, as CloudFormation would see it. */
function circleIn(resources: Readonly<Record<string, unknown>>): string[] | undefined {
  const ids = Object.keys(resources);
  const needs = new Map(ids.map((id) => [id, referencesIn(resources[id] as Json).filter((other) => other in resources)]));
  const done = new Set<string>();
  const walk = (id: string, above: readonly string[]): string[] | undefined => {
    if (above.includes(id)) return [...above.slice(above.indexOf(id)), id];
    if (done.has(id)) return undefined;
    for (const need of needs.get(id) ?? []) {
      const circle = walk(need, [...above, id]);
      if (circle) return circle;
    }
    done.add(id);
    return undefined;
  };
  for (const id of ids) {
    const circle = walk(id, []);
    if (circle) return circle;
  }
  return undefined;
}

function referencesIn(value: Json): string[] {
  if (Array.isArray(value)) return value.flatMap(referencesIn);
  if (!isJsonObject(value)) return [];
  const { Ref: ref, 'Fn::GetAtt': attribute, DependsOn: depends } = value;
  const own = [ref, Array.isArray(attribute) ? attribute[0] : undefined, ...(Array.isArray(depends) ? depends : [depends])];
  return [...own.filter((id): id is string => typeof id === 'string'), ...Object.values(value).flatMap(referencesIn)];
}
