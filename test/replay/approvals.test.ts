import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LoopRig, NO_FAULTS, type Turn } from '../support/loop-rig.ts';
import { faultsIn, type ReplayServer, replayServer, resultsIn } from '../support/replay.ts';

const write = (path: string, content = 'x'): readonly [string, unknown] => ['write_file', { path, content, mode: 'overwrite' }];
const list: readonly [string, unknown] = ['list_directory', { path: '.' }];

describe('replays about approval and resume', () => {
  let server: ReplayServer;
  beforeAll(async () => {
    server = await replayServer({
      agents: { default: {}, lenient: { on_deny: 'call' } },
      constraints: { guard: { tool_policy: { write_file: 'confirm', memory_write: { policy: 'deny', when: { required: ['key'] } } } } },
    });
  });
  afterAll(() => server.close());

  const decide = (approvalId: string, body: unknown) => server.api.call('POST', `/approvals/${approvalId}`, body);
  const pendingOf = async (runId: string): Promise<{ approvalId: string }[]> =>
    (await server.api.call('GET', '/approvals')).body.approvals.filter((approval: { runId: string }) => approval.runId === runId);
  const typesOf = async (runId: string): Promise<string[]> => (await server.api.events(runId)).map(({ type }) => type);
  const startedOf = async (runId: string): Promise<string[]> =>
    (await server.api.events(runId)).filter(({ type }) => type === 'tool.call.started').map(({ data }) => data.callId);

  it('R1: a rejected call beside a free one leaves both with a result', async () => {
    const { runId, prompts } = await server.play([{ calls: [list, write('a.md')] }, 'done']);
    const [approval] = await server.api.approvals(runId, 1);
    await decide(approval.approvalId, { decision: 'reject' });
    await server.api.ended(runId);
    expect(faultsIn(prompts)).toEqual([]);
    expect(resultsIn(prompts[1]).map(({ name, isError }) => [name, isError])).toEqual([
      ['list_directory', false],
      ['write_file', true],
    ]);
  });

  it('R3: a read that runs beside a write that a person denies', async () => {
    const { runId, prompts } = await server.play([{ calls: [list, write('a.md')] }, 'done']);
    const [approval] = await server.api.approvals(runId, 1);
    await decide(approval.approvalId, { decision: 'reject', reason: 'no' });
    expect(await server.api.ended(runId)).toMatchObject({ status: 'succeeded', effects: { 'fs.read': 1 } });
    expect(faultsIn(prompts)).toEqual([]);
  });

  it.each([
    ['default', [true, true]],
    ['lenient', [false, true]],
  ])('R3: a read beside a write that policy denies, agent %s', async (agent, errors) => {
    const { runId, prompts } = await server.play([{ calls: [list, ['memory_write', { key: 'k', value: 'v' }]] }, 'done'], { agent });
    expect(await server.api.ended(runId)).toMatchObject({ status: 'succeeded' });
    expect(faultsIn(prompts)).toEqual([]);
    expect(resultsIn(prompts[1]).map(({ isError }) => isError)).toEqual(errors);
    expect(resultsIn(prompts[1])[1]?.text).toContain('GUARD_DENIED');
  });

  it('R5: what was approved has run before the LLM is asked again', async () => {
    const { runId, prompts } = await server.play([
      { calls: [write('five.md', 'five')] },
      { calls: [['read_file', { path: 'five.md' }]] },
      'done',
    ]);
    const [approval] = await server.api.approvals(runId, 1);
    expect(prompts).toHaveLength(1);
    await decide(approval.approvalId, { decision: 'approve' });
    await server.api.ended(runId);
    const log = (await typesOf(runId)).filter((type) => type === 'llm.call.completed' || type === 'tool.call.completed');
    expect(log.slice(0, 3)).toEqual(['llm.call.completed', 'tool.call.completed', 'llm.call.completed']);
    expect(resultsIn(prompts[1])).toMatchObject([{ name: 'write_file', isError: false }]);
    expect(resultsIn(prompts[2])[0]?.text).toContain('five');
  });

  it('R7: an approval of a call that is not pending is an error and runs nothing', async () => {
    const { runId } = await server.play([{ calls: [write('a.md'), list] }, 'done']);
    const [approval] = await server.api.approvals(runId, 1);
    const base = approval.approvalId.slice(0, approval.approvalId.lastIndexOf('.'));
    for (const other of [`${base}.c1-1`, `${base}.c1-2`, `${runId}-9.c1-0`, `${base}.c2-0`])
      expect(await decide(other, { decision: 'approve' })).toMatchObject({ status: 404 });
    expect(await startedOf(runId)).toEqual([]);
    expect((await server.api.call('GET', `/runs/${runId}`)).body.status).toBe('waiting');
    expect(await pendingOf(runId)).toHaveLength(1);
    await decide(approval.approvalId, { decision: 'approve' });
    await server.api.ended(runId);
    expect((await startedOf(runId)).toSorted()).toEqual(['c1-0', 'c1-1']);
  });

  it('R9: two calls of one step, approved in the same instant', async () => {
    const { runId, prompts } = await server.play([{ calls: [write('a.md'), write('b.md')] }, 'done']);
    const approvals = await server.api.approvals(runId, 2);
    const answers = await Promise.all(approvals.map(({ approvalId }) => decide(approvalId, { decision: 'approve' })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(await server.api.ended(runId)).toMatchObject({ status: 'succeeded', effects: { 'fs.write': 2 } });
    expect(faultsIn(prompts)).toEqual([]);
  });

  it('R11: the second round of approvals brings its own result and none of the first', async () => {
    const { runId, prompts } = await server.play([{ calls: [write('first.md')] }, { calls: [write('second.md')] }, 'done']);
    for (const path of ['first.md', 'second.md']) {
      const approval = await server.api.until(`the approval of ${path}`, async () =>
        (await server.api.approvals(runId, 1)).find(({ arguments: args }) => args.path === path),
      );
      await decide(approval.approvalId, { decision: 'approve' });
    }
    await server.api.ended(runId);
    expect(faultsIn(prompts)).toEqual([]);
    const tool = (prompts[2]?.messages ?? []).flatMap((message) => (message.role === 'tool' ? [message.results] : []));
    expect(tool.map((results) => results.map(({ text }) => /first|second/.exec(text)?.[0]))).toEqual([['first'], ['second']]);
    expect((await typesOf(runId)).filter((type) => type === 'approval.requested')).toHaveLength(2);
  });

  it('R13: a process that knows nothing of the run resumes it and asks nobody again', async () => {
    const { runId, prompts } = await server.play([{ calls: [write('a.md')] }, 'done']);
    const [approval] = await server.api.approvals(runId, 1);
    await server.restart();
    expect(await pendingOf(runId)).toMatchObject([{ approvalId: approval.approvalId }]);
    await decide(approval.approvalId, { decision: 'approve' });
    expect(await server.api.ended(runId)).toMatchObject({ status: 'succeeded', effects: { 'fs.write': 1 } });
    expect((await typesOf(runId)).filter((type) => type === 'approval.requested')).toHaveLength(1);
    expect(faultsIn(prompts)).toEqual([]);
  });

  it('R13: a decision that was recorded before the process died is taken by the next one', async () => {
    const rig = gatedRig([{ calls: [['look', { at: 1 }]] }, 'done']);
    const { runId } = await rig.run();
    const [approvalId = ''] = await rig.pending(runId);
    rig.executions.clear();
    await rig.decide([{ approvalId, decision: 'approve' }]);
    rig.clock.advance(2 * 60 * 60_000);
    await rig.sweep();
    expect(await rig.settle(runId)).toMatchObject({ status: 'succeeded' });
    expect([...rig.handled]).toEqual([['c1-0', 1]]);
    expect(rig.stores.state.suspensions.size).toBe(1);
  });

  it('R15: two calls with equal tool and arguments are decided apart', async () => {
    const { runId, prompts } = await server.play([{ calls: [write('same.md', 's'), write('same.md', 's')] }, 'done']);
    const approvals = await server.api.approvals(runId, 2);
    expect(new Set(approvals.map(({ approvalId }) => approvalId)).size).toBe(2);
    const of = (callId: string) => approvals.find(({ approvalId }) => approvalId.endsWith(`.${callId}`)).approvalId;
    await decide(of('c1-0'), { decision: 'reject' });
    await decide(of('c1-1'), { decision: 'approve' });
    await server.api.ended(runId);
    expect(resultsIn(prompts[1]).map(({ isError }) => isError)).toEqual([true, false]);
    expect(await startedOf(runId)).toEqual(['c1-1']);
  });

  it('R17: one answer for several that are pending is refused, whatever its form', async () => {
    const { runId } = await server.play([{ calls: [write('a.md'), write('b.md')] }, 'done']);
    const [approval] = await server.api.approvals(runId, 2);
    const suspensionId = approval.approvalId.slice(0, approval.approvalId.lastIndexOf('.'));
    for (const body of [{ decision: 'approve' }, 'approve', { decisions: [{ decision: 'approve' }] }, { decisions: [] }])
      expect((await server.api.call('POST', '/approvals', body)).status).toBe(400);
    expect((await decide(suspensionId, { decision: 'approve' })).status).toBeGreaterThanOrEqual(400);
    expect(await pendingOf(runId)).toHaveLength(2);
    await server.api.call('POST', `/runs/${runId}/cancel`);
    await server.api.ended(runId);
  });

  it('R19: a step that dies after the tool ran and before its commit neither runs it again nor loses its result', async () => {
    let runs = 0;
    const rig = gatedRig([{ calls: [['look', { at: 1 }]] }, 'done'], () => `run ${++runs}`);
    const { runId } = await rig.run();
    const [approvalId = ''] = await rig.pending(runId);
    let killed = 0;
    rig.faults = {
      ...NO_FAULTS,
      before(operation) {
        if (operation === 'commit' && runs === 1 && killed++ < 2) throw new Error('killed');
      },
    };
    const [decided] = await rig.decide([{ approvalId, decision: 'approve' }]);
    const run = await rig.settle(runId);
    expect(killed).toBeGreaterThan(1);
    expect(run).toMatchObject({ status: 'succeeded' });
    const [again] = await rig.decide([{ approvalId, decision: 'approve' }]);
    expect(again).toEqual(decided);
    expect(runs).toBe(1);
    expect(resultsIn(rig.prompts.at(-1))).toMatchObject([{ text: 'run 1' }]);
  });

  it('R21: the LLM is shown what a person changed a call to', async () => {
    const { runId, prompts } = await server.play([{ calls: [write('a.md', 'Paris')] }, 'done']);
    const [approval] = await server.api.approvals(runId, 1);
    await decide(approval.approvalId, { decision: 'approve', arguments: { path: 'a.md', content: 'London!', mode: 'overwrite' } });
    await server.api.ended(runId);
    expect(resultsIn(prompts[1])[0]?.text).toMatch(/A person changed the arguments.*London!/);
    expect(resultsIn(prompts[1])[0]?.text).toContain('"bytes": 7');
  });

  it('R23: forged, altered or unsigned decisions are refused', async () => {
    const { runId } = await server.play([{ calls: [write('a.md')] }, 'done']);
    const [approval] = await server.api.approvals(runId, 1);
    const path = `/approvals/${approval.approvalId}`;
    const unsigned = await fetch(`${server.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ decision: 'approve' }),
    });
    expect(unsigned.status).toBe(401);
    const wrong = await fetch(`${server.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer nonsense' },
      body: JSON.stringify({ decision: 'approve' }),
    });
    expect(wrong.status).toBe(401);
    expect((await decide(approval.approvalId, { decision: 'approve', tool: 'execute_shell' })).status).toBe(400);
    expect((await decide(approval.approvalId, { decision: 'approve', hash: 'f'.repeat(64) })).status).toBe(400);
    const history = [{ role: 'assistant', content: '', toolCalls: [{ callId: 'c1-0', approved: true }] }];
    expect((await server.api.call('POST', '/runs', { input: 'go', messages: history })).status).toBe(400);
    expect(await startedOf(runId)).toEqual([]);
    await server.api.call('POST', `/runs/${runId}/cancel`);
    await server.api.ended(runId);
  });

  it('R23: arguments that a person changed to nonsense are refused, use up no approval and do not run', async () => {
    const { runId, prompts } = await server.play([{ calls: [write('a.md')] }, 'done']);
    const [approval] = await server.api.approvals(runId, 1);
    const nonsense = { decision: 'approve', arguments: { path: 'a.md', content: 'x', mode: 'obliterate' } };
    expect(await decide(approval.approvalId, nonsense)).toMatchObject({ status: 400, body: { code: 'INVALID_ARGUMENTS' } });
    expect(await pendingOf(runId)).toHaveLength(1);
    await decide(approval.approvalId, { decision: 'reject' });
    await server.api.ended(runId);
    expect(resultsIn(prompts[1])[0]?.text).toContain('APPROVAL_REJECTED');
    expect(await startedOf(runId)).toEqual([]);
  });

  it('R23: changed arguments that the tool of a later deployment would refuse do not run', async () => {
    const rig = gatedRig([{ calls: [['look', { at: 1 }]] }, 'done']);
    const { runId } = await rig.run();
    const [approvalId = ''] = await rig.pending(runId);
    await rig.decide([{ approvalId, decision: 'approve', arguments: { at: 2 } }]);
    const { registry } = rig.deps;
    const look = registry.get('look') ?? expect.fail('no tool');
    registry.unregister('look');
    registry.register({ ...look, parameters: { type: 'object', properties: { at: { type: 'string', pattern: '^a' } } } });
    await rig.settle(runId);
    expect(rig.handled.size).toBe(0);
    expect(resultsIn(rig.prompts.at(-1))[0]?.text).toContain('INVALID_ARGUMENTS');
  });

  it('R23: what was approved is held against the policy of the moment before it runs', async () => {
    const rig = gatedRig([{ calls: [['look', { at: 1 }]] }, 'done']);
    const { runId } = await rig.run();
    const [approvalId = ''] = await rig.pending(runId);
    await rig.decide([{ approvalId, decision: 'approve' }]);
    rig.stores.state.policies.set('t1', { v: 1, version: 1, guard: { tool_policy: { look: 'deny' } }, updatedAt: 0, updatedBy: 'ann' });
    await rig.settle(runId);
    expect(rig.handled.size).toBe(0);
    expect(resultsIn(rig.prompts.at(-1))[0]?.text).toContain('GUARD_DENIED');
  });

  it('R25: falsy payloads are neither a yes nor a no', async () => {
    const { runId } = await server.play([{ calls: [write('a.md')] }, 'done']);
    const [approval] = await server.api.approvals(runId, 1);
    for (const body of [
      false,
      0,
      '',
      null,
      [],
      {},
      { decision: false },
      { decision: 0 },
      { decision: '' },
      { decision: null },
      { decision: 'Approve' },
    ])
      expect((await decide(approval.approvalId, body)).status).toBe(400);
    expect(await pendingOf(runId)).toHaveLength(1);
    await decide(approval.approvalId, { decision: 'approve', arguments: { path: 'a.md', content: '', mode: 'overwrite' } });
    expect(await server.api.ended(runId)).toMatchObject({ status: 'succeeded', effects: { 'fs.write': 1 } });
  });

  it.each(['', '0', 'false', 'null'])('R25: an answer that looks like nothing is the answer: "%s"', async (answer) => {
    const { runId, prompts } = await server.play([{ calls: [['ask_user', { question: 'How many?' }]] }, 'done']);
    const [{ approvalId }] = await server.api.approvals(runId, 1);
    expect((await decide(approvalId, { decision: 'answer' })).status).toBe(400);
    expect(await decide(approvalId, { decision: 'answer', answer })).toMatchObject({ status: 200, body: { status: 'answered' } });
    await server.api.ended(runId);
    expect(resultsIn(prompts[1])).toMatchObject([{ isError: false, text: answer === '' ? '(no text)' : answer }]);
  });

  it('R27: a click that comes before the token is stored, on a large request', async () => {
    const content = 'ä'.repeat(50_000);
    const { runId } = await server.play([{ calls: [write('a.md', content)] }, 'done']);
    const approvalId = `${runId}-1.c1-0`;
    let tries = 0;
    while ((await decide(approvalId, { decision: 'approve' })).status !== 200) if (++tries > 5_000) throw new Error('it was never there');
    expect(await server.api.ended(runId)).toMatchObject({ status: 'succeeded', effects: { 'fs.write': 1 } });
  });

  it('R27: a decision between the pending record and the token wakes the run', async () => {
    const rig = gatedRig([{ calls: [['look', { at: 'x'.repeat(100_000) }]] }, 'done']);
    const { runId } = await rig.start();
    await rig.advance(`${runId}-1`);
    expect(rig.states).toEqual(['Reason']);
    const [approvalId = ''] = await rig.pending(runId);
    await rig.decide([{ approvalId, decision: 'approve' }]);
    expect(await rig.settle(runId)).toMatchObject({ status: 'succeeded' });
    expect([...rig.handled]).toEqual([['c1-0', 1]]);
  });
});

/** The loop with one tool that a person must approve. */
function gatedRig(turns: readonly Turn[], handle: () => string = () => 'seen'): LoopRig {
  return new LoopRig({
    turns,
    tools: [{ definition: { name: 'look' }, handle }],
    config: { constraints: { guard: { tool_policy: { look: 'confirm' } } } },
  });
}
