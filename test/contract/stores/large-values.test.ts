import { afterAll, beforeAll, expect, it } from 'vitest';
import { readTree } from '../../../lib/adapters/skills/tree-file.ts';
import { configSchema } from '../../../lib/core/config.ts';
import { executionName } from '../../../lib/core/ids.ts';
import { createTools } from '../../../lib/core/loop/built-in.ts';
import { builtIns } from '../../../lib/core/loop/built-ins/index.ts';
import type { LoopDeps, TreeSkill } from '../../../lib/core/loop/deps.ts';
import { reason } from '../../../lib/core/loop/reason.ts';
import type { Run } from '../../../lib/core/loop/run.ts';
import { readState, stateOf } from '../../../lib/core/loop/shared-state.ts';
import { startRun } from '../../../lib/core/loop/start.ts';
import { silentLogger } from '../../../lib/core/ports/logger.ts';
import type { RunStore } from '../../../lib/core/ports/run-store.ts';
import { startTestStores, type TestStores } from '../../support/dynalite.ts';
import { seededRandom, TestClock } from '../../support/time.ts';

/** Two of them are more than an item of 400 KB, and more than the run's 200 KB. */
const LARGE = 'é'.repeat(225_000);
const KEY = { tenant: 'acme', sessionId: 's-1' };

const set = (key: string, value: unknown) => ({ type: 'set', key, value, session: true });
const tree = (name: string, ...children: object[]): TreeSkill => ({
  name,
  description: 'A procedure.',
  tree: readTree(JSON.stringify({ root: { type: 'sequence', children } }), 'tree.yaml'),
  inputs: { type: 'object', properties: { doc: { type: 'string' }, copy: { type: 'string' } } },
  outputs: undefined,
  resultKey: 'skill_result',
  constraints: undefined,
});
const TREES = [
  tree('keeps', set('copy', '{{doc}}'), set('place', 7)),
  tree('asks', { type: 'set', key: 'skill_result', value: '{{copy}}' }),
  tree('plain', { type: 'set', key: 'skill_result', value: 'done' }, { type: 'llm', prompt: 'Hello', output_key: 'said' }),
];

const random = seededRandom(7);
let stores: TestStores;
beforeAll(async () => {
  stores = await startTestStores();
});
afterAll(() => stores.close());

const depsWith = (runs: RunStore): LoopDeps => {
  const config = configSchema.parse({});
  const usage = { promptTokens: 1, completionTokens: 1, totalTokens: 2 };
  return {
    runs,
    guard: stores.guard,
    clock: new TestClock(),
    random,
    logger: silentLogger,
    config,
    engine: { start: async () => 'started', sendTaskSuccess: async () => 'gone', status: async () => 'running' },
    trees: new Map(TREES.map((skill) => [skill.name, skill])),
    ...createTools([], builtIns, config.security),
    model: async () => ({ id: 'test/model', generate: async () => ({ text: 'hello', calls: [], usage, finish: 'stop' }) }),
    functionName: (category) => category,
  };
};

/** A tree as the root of a run, to its end; `reason` is called again where it failed, as the state machine would. */
async function play(deps: LoopDeps, skill: string, inputs = {}): Promise<Run> {
  const { tenant, runId, execution } = await startRun(deps, { ...KEY, principal: 'ann', input: skill, tree: { skill, inputs } });
  for (let step = 0, tries = 0; tries < 10; tries++) {
    try {
      const output = await reason(deps, { data: { ctx: { tenant, runId, step } }, execution: executionName(runId, execution) });
      if (output.next === 'finish') break;
      step = output.ctx.step;
    } catch {}
  }
  return (await stores.runs.getRun({ tenant, runId })) ?? expect.fail('the run is gone');
}

it('values over the limit of an item go from run to run, whole, though an attempt was killed before its commit', async () => {
  let killed = 0;
  const dying: RunStore = {
    ...stores.runs,
    commit: async (...args) => {
      if (killed++ === 0) throw new Error('killed');
      return stores.runs.commit(...args);
    },
  };
  const kept = await play(depsWith(dying), 'keeps', { doc: LARGE });
  expect([kept.status, killed]).toEqual(['succeeded', 2]);
  // What the killed attempt wrote is there, and named by nobody.
  const written = (await stores.runs.listCommits(KEY, kept.runSeq)).filter(({ prefix }) => prefix.startsWith('MSG#value.'));
  expect(written.map(({ prefix }) => prefix === kept.storedChanges?.['copy']?.at).toSorted()).toEqual([false, true]);
  const told = await play(depsWith(stores.runs), 'asks');
  const said = (await stores.runs.readTranscript(KEY, told.frames[0]?.head, 10)).findLast(({ message }) => message.role === 'assistant');
  expect(said?.message).toMatchObject({ text: LARGE });
  expect(await readState(stores.runs, KEY, stateOf(await stores.runs.getSession(KEY), told))).toEqual({ copy: LARGE, place: 7 });
});

it('a step without any costs the five requests that it may', async () => {
  const deps = depsWith(stores.runs);
  const { tenant, runId } = await startRun(deps, {
    ...KEY,
    sessionId: 's-2',
    principal: 'ann',
    input: 'x',
    tree: { skill: 'plain', inputs: {} },
  });
  stores.requests.length = 0;
  await reason(deps, { data: { ctx: { tenant, runId, step: 0 } }, execution: executionName(runId, 1) });
  expect(stores.requests.map(({ operation }) => operation)).toEqual(['BatchGetItemCommand', 'BatchWriteItemCommand', 'UpdateItemCommand']);
});
