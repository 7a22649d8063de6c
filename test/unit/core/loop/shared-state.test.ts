import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../lib/core/json.ts';
import { BLACKBOARD_BYTES, INLINE_VALUE_BYTES, SESSION_STATE } from '../../../../lib/core/limits.ts';
import type { TreeSkill } from '../../../../lib/core/loop/deps.ts';
import { exportRun } from '../../../../lib/core/loop/export-run.ts';
import type { Run } from '../../../../lib/core/loop/run.ts';
import { readState, stateOf } from '../../../../lib/core/loop/shared-state.ts';
import { LoopRig, NO_FAULTS, type Turn } from '../../../support/loop-rig.ts';
import { treeSkill } from '../../../support/tree-skill.ts';

const LARGE = 'word '.repeat(1_000);
const ANY = { type: 'object', additionalProperties: true };

const skill = (name: string, root: object, inputs: JsonObject = ANY): TreeSkill => treeSkill(name, JSON.stringify({ root }), { inputs });
const set = (key: string, value: unknown, session = true) => ({ type: 'set', key, value, session });
const sequence = (...children: object[]) => ({ type: 'sequence', children });

/** Keeps what it is given as `doc`, and a small value beside it. */
const KEEPS = skill('keeps', sequence(set('notes', '{{doc}}'), set('place', 7), set('skill_result', 'kept', false)));
/** Answers with what it was called with. */
const TELLS = skill('tells', set('skill_result', { notes: '{{notes}}', place: '{{place}}' }, false), {
  type: 'object',
  properties: { notes: { type: 'string' }, place: { type: 'integer' } },
});
const rigWith = (trees: TreeSkill[], turns: Turn[] = []): LoopRig => new LoopRig({ trees, turns });
const tree = (rig: LoopRig, name: string, inputs: JsonObject = {}, sessionId = 's-1'): Promise<Run> =>
  rig.run(`run ${name}`, { sessionId, tree: { skill: name, inputs } });
const stateNow = async (rig: LoopRig, run: Run): Promise<JsonObject> =>
  readState(rig.stores.runs, run, stateOf(await rig.stores.runs.getSession(run), await rig.get(run.runId)));

describe('what a tree keeps in the session', () => {
  it('is there for the trees of later runs, started by a person or by an agent, however large', async () => {
    const call = { calls: [['run_bt_skill', { skill: 'tells' }]] } as const;
    const rig = rigWith([KEEPS, TELLS], [call, 'Told.']);
    const kept = await tree(rig, 'keeps', { doc: LARGE });
    expect(kept.status).toBe('succeeded');
    expect(await stateNow(rig, kept)).toEqual({ notes: LARGE, place: 7 });
    expect(JSON.parse((await tree(rig, 'tells')).answer ?? '')).toEqual({ notes: LARGE, place: 7 });
    // The state has been merged into the session's own item by now.
    expect(JSON.parse((await tree(rig, 'tells', { place: 8 })).answer ?? '')).toEqual({ notes: LARGE, place: 8 });
    const asked = await rig.run('go', { sessionId: 's-1' });
    const observed = (await rig.transcript(asked)).flatMap(({ message }) => (message.role === 'observation' ? [message.result.data] : []));
    expect(JSON.parse(observed.at(-1) ?? '')).toEqual({ notes: LARGE, place: 7 });
    expect(JSON.parse((await tree(rig, 'tells', { notes: 'none' }, 's-2')).answer ?? '')).toEqual({ notes: 'none', place: null });
  });

  it('is seen by a tree that the same run begins after it, even in the same step', async () => {
    const both = {
      calls: [
        ['run_bt_skill', { skill: 'keeps', inputs: { doc: LARGE } }],
        ['run_bt_skill', { skill: 'tells' }],
      ],
    } as const;
    const rig = rigWith([KEEPS, TELLS], [both, 'Told.']);
    const run = await rig.run();
    const observed = (await rig.transcript(run)).flatMap(({ message }) => (message.role === 'observation' ? [message.result.data] : []));
    expect(JSON.parse(observed[1] ?? '')).toEqual({ notes: LARGE, place: 7 });
  });

  it('takes the place of what was kept before, small for large and large for small', async () => {
    const rig = rigWith([KEEPS]);
    for (const doc of [LARGE, 'short', `${LARGE}!`])
      expect(await stateNow(rig, await tree(rig, 'keeps', { doc }))).toEqual({ notes: doc, place: 7 });
    await tree(rig, 'keeps', { doc: 'last' });
    const session = await rig.stores.runs.getSession({ tenant: 't1', sessionId: 's-1' });
    expect(Object.keys(session?.stored ?? {})).toEqual(['notes']);
    expect(session?.state).toEqual({ place: 7 });
  });

  it('stands in no item over 4 KiB: neither in the run, nor in the session, nor as an input', async () => {
    const call = { calls: [['run_bt_skill', { skill: 'keeps', inputs: { doc: LARGE } }]] } as const;
    const rig = rigWith([KEEPS, TELLS], [call, 'Kept.']);
    const starting = await rig.start('begin', { sessionId: 's-1', tree: { skill: 'keeps', inputs: { doc: LARGE } } });
    expect(JSON.stringify(starting)).not.toContain(LARGE.slice(0, 100));
    const first = await rig.settle(starting.runId);
    const second = await rig.run('go', { sessionId: 's-1' });
    for (const run of [first, second]) {
      expect(run).toMatchObject({
        status: 'succeeded',
        stateChanges: { place: 7 },
        storedChanges: { notes: { stored: LARGE.length + 2 } },
      });
      expect(JSON.stringify({ ...run, events: [] })).not.toContain(LARGE.slice(0, 100));
    }
    expect(JSON.stringify(await rig.stores.runs.getSession(second))).not.toContain(LARGE.slice(0, 100));
    expect(LARGE.length).toBeGreaterThan(INLINE_VALUE_BYTES);
  });

  it('fails its node where it would not fit, by bytes or by number; what fits is kept', async () => {
    const [bytes, keys] = [SESSION_STATE.bytes, SESSION_STATE.keys];
    const many = Array.from({ length: keys }, (_, n) => set(`k${n}`, n));
    const orElse = (...children: object[]) => ({
      type: 'selector',
      children: [sequence(...children), set('skill_result', 'it did not fit', false)],
    });
    const rig = rigWith([
      skill('many', sequence(...many)),
      skill('one_more', orElse(set('k0', 'again'), set('one', 1))),
      ...['big', 'second', 'third'].map((name) => skill(name, set(name, '{{doc}}'))),
      skill('much', orElse(set('first', 1), set('third', '{{doc}}'))),
    ]);
    expect((await tree(rig, 'many')).status).toBe('succeeded');
    const refused = await tree(rig, 'one_more');
    expect(refused).toMatchObject({ status: 'succeeded', answer: 'it did not fit', stateChanges: { k0: 'again' } });
    expect(Object.keys(await stateNow(rig, refused))).toHaveLength(keys);
    const of = (name: string, bytesOfDoc: number) => tree(rig, name, { doc: 'x'.repeat(bytesOfDoc) }, 's-3');
    for (const name of ['big', 'second']) expect((await of(name, bytes * 0.4)).status).toBe('succeeded');
    const much = await of('much', bytes * 0.3);
    expect(much).toMatchObject({ status: 'succeeded', answer: 'it did not fit' });
    expect(Object.keys(await stateNow(rig, much)).toSorted()).toEqual(['big', 'first', 'second']);
    const { error } = await of('third', bytes * 0.3);
    expect(error?.message).toContain('RESOURCE_EXHAUSTED: the session');
  });

  it('that does not fit fails each attempt of a retry, and the retry comes to its end', async () => {
    const again = {
      type: 'retry',
      attempts: 3,
      child: sequence(set('tries', '{{tries}}x'), set('big', '{{doc}}'), set('more', '{{doc}}')),
    };
    const first = skill('first', set('held', '{{doc}}'));
    const rig = rigWith([first, skill('again', sequence(set('tries', ''), again))]);
    await tree(rig, 'first', { doc: 'x'.repeat(SESSION_STATE.bytes * 0.4) });
    const run = await tree(rig, 'again', { doc: 'x'.repeat(SESSION_STATE.bytes * 0.3) });
    expect(run).toMatchObject({ status: 'failed', error: { message: expect.stringContaining('RESOURCE_EXHAUSTED: the session') } });
    expect(await stateNow(rig, run)).toMatchObject({ tries: 'xxx' });
  });

  it('of an attempt that was killed before its commit is nowhere; the next one keeps it whole', async () => {
    const rig = rigWith([KEEPS, TELLS]);
    const { runId } = await rig.start('begin', { sessionId: 's-1', tree: { skill: 'keeps', inputs: { doc: LARGE } } });
    let commits = 0;
    rig.faults = {
      ...NO_FAULTS,
      before: (operation) => {
        if (operation === 'commit' && commits++ === 0) throw new Error('killed');
      },
    };
    const run = await rig.settle(runId);
    rig.faults = NO_FAULTS;
    const written = [...(rig.stores.state.messages.get('t1#s-1')?.keys() ?? [])].filter((prefix) =>
      /^MSG#value\.\w+\.0#000001#000001#/.test(prefix),
    );
    expect(written).toHaveLength(2);
    expect(await stateNow(rig, run)).toEqual({ notes: LARGE, place: 7 });
    const { messages } = await exportRun({ runs: rig.stores.runs, guard: rig.stores.guard }, run);
    expect(messages.filter(({ message }) => message.role === 'value').map(({ frame, step }) => [frame, step])).toEqual([
      [expect.stringMatching(/^value\.\w+\.0$/), 0],
      ['main', 1],
      [expect.stringMatching(/^value\.\w+\.0$/), 1],
    ]);
  });

  it('is kept by its commit, whatever becomes of the tree and of the run', async () => {
    const rig = rigWith([skill('fails', sequence(set('notes', '{{doc}}'), { type: 'condition', key: 'doc', equals: 'nothing' }))]);
    const run = await tree(rig, 'fails', { doc: LARGE });
    expect(run.status).toBe('failed');
    expect(await stateNow(rig, run)).toEqual({ notes: LARGE });
  });

  it('costs nothing where nothing is kept and nothing may be inherited', async () => {
    const rig = rigWith([skill('plain', sequence(set('a', 1, false), { type: 'tool', tool: 'look' }))]);
    const operations: string[] = [];
    const { runId } = await rig.start('begin', { sessionId: 's-1', tree: { skill: 'plain', inputs: { doc: 'short' } } });
    rig.faults = { ...NO_FAULTS, before: (operation) => operations.push(operation) };
    await rig.settle(runId);
    expect(operations).not.toContain('getSession');
    expect(operations.filter((operation) => operation === 'readTranscript').length).toBeLessThanOrEqual(2);
  });
});

describe('the inputs of a tree', () => {
  it('beyond a blackboard are refused before anything is written', async () => {
    const doc = 'x'.repeat(BLACKBOARD_BYTES);
    const rig = rigWith([KEEPS, TELLS]);
    await expect(tree(rig, 'keeps', { doc })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENTS',
      message: expect.stringContaining(`over ${BLACKBOARD_BYTES} bytes`),
    });
    expect([rig.stores.state.runs.size, rig.stores.state.messages.size]).toEqual([0, 0]);
  });

  it('that were written for a run whose item never was leave nothing that is read', async () => {
    const rig = rigWith([KEEPS]);
    let killed = 0;
    rig.faults = {
      ...NO_FAULTS,
      before: (operation) => {
        if (operation === 'createRun' && killed++ === 0) throw new Error('killed');
      },
    };
    const request = { sessionId: 's-1', tree: { skill: 'keeps', inputs: { doc: LARGE } }, idempotencyKey: 'k' };
    await expect(rig.start('begin', request)).rejects.toThrow('killed');
    rig.faults = NO_FAULTS;
    const run = await rig.run('begin', request);
    expect(await stateNow(rig, run)).toEqual({ notes: LARGE, place: 7 });
  });
});
