import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../lib/core/json.ts';
import type { Run } from '../../../../lib/core/loop/run.ts';
import type { ModelRequest } from '../../../../lib/core/ports/model.ts';
import { LoopRig, type RigOptions } from '../../../support/loop-rig.ts';

const question: readonly [string, JsonObject] = ['ask_user', { question: 'Which colour?', choices: ['red', 'blue'] }];
const look = ['look', { at: 1 }] as const;

const waitingRig = async (options: RigOptions): Promise<{ rig: LoopRig; run: Run; approvalIds: string[] }> => {
  const rig = new LoopRig(options);
  const run = await rig.run();
  return { rig, run, approvalIds: await rig.pending(run.runId) };
};

/** What the LLM was told of the calls of its first turn. */
const results = (request: ModelRequest | undefined) =>
  request?.messages.flatMap((message) => (message.role === 'tool' ? message.results.map(({ name, text }) => [name, text]) : []));

describe('ask_user', () => {
  it('suspends with a question and gives its answer to the LLM, without a Lambda', async () => {
    const { rig, run, approvalIds } = await waitingRig({ turns: [{ calls: [question] }, 'Blue it is.'] });
    expect(run).toMatchObject({ status: 'waiting', plan: { next: 'suspend' } });
    const [suspension] = rig.stores.state.suspensions.values();
    expect(Object.values(suspension?.approvals ?? {})).toMatchObject([
      { kind: 'question', tool: 'ask_user', status: 'pending', arguments: question[1], reason: 'the agent asks a question' },
    ]);
    await rig.decide([{ approvalId: approvalIds[0] ?? '', decision: 'answer', answer: 'blue' }]);
    expect(await rig.settle(run.runId)).toMatchObject({ status: 'succeeded', answer: 'Blue it is.' });
    expect(results(rig.prompts[1])).toEqual([['ask_user', 'blue']]);
    expect(rig.states).toEqual(['Reason', 'Route', 'Suspend', 'Reason', 'Route', 'Finish']);
  });

  it('takes only one of its choices; without choices any text, the empty one too (R25)', async () => {
    const chosen = await waitingRig({ turns: [{ calls: [question] }, 'ok'] });
    const answer = (rig: LoopRig, id: string | undefined, text: string) =>
      rig.decide([{ approvalId: id ?? '', decision: 'answer', answer: text }]);
    await expect(answer(chosen.rig, chosen.approvalIds[0], 'green')).rejects.toMatchObject({ code: 'BAD_REQUEST', field: 'answer' });
    const open = await waitingRig({ turns: [{ calls: [['ask_user', { question: 'Anything else?' }]] }, 'ok'] });
    await answer(open.rig, open.approvalIds[0], '');
    expect(await open.rig.settle(open.run.runId)).toMatchObject({ status: 'succeeded' });
    expect(results(open.rig.prompts[1])).toEqual([['ask_user', '(no text)']]);
  });

  it('stands in one batch with other calls, which wait for it', async () => {
    const { rig, run, approvalIds } = await waitingRig({ turns: [{ calls: [look, question, look] }, 'ok'] });
    expect(approvalIds).toHaveLength(1);
    expect(rig.handled.size).toBe(0);
    await rig.decide([{ approvalId: approvalIds[0] ?? '', decision: 'answer', answer: 'red' }]);
    await rig.settle(run.runId);
    expect(results(rig.prompts[1])).toEqual([
      ['look', expect.stringContaining('look ok')],
      ['ask_user', 'red'],
      ['look', expect.stringContaining('look ok')],
    ]);
    expect([...rig.handled.keys()].sort()).toEqual(['c1-0', 'c1-2']);
  });

  it('and an approval are decided in one suspension, each in its own way', async () => {
    const { rig, run, approvalIds } = await waitingRig({
      config: { constraints: { guard: { tool_policy: { look: 'confirm' } } } },
      turns: [{ calls: [question, look] }, 'ok'],
    });
    const [asked = '', gated = ''] = approvalIds;
    await expect(rig.decide([{ approvalId: asked, decision: 'approve' }])).rejects.toMatchObject({ code: 'BAD_REQUEST' });
    await expect(rig.decide([{ approvalId: gated, decision: 'answer', answer: 'red' }])).rejects.toMatchObject({ code: 'BAD_REQUEST' });
    await rig.decide([
      { approvalId: asked, decision: 'answer', answer: 'red' },
      { approvalId: gated, decision: 'reject', reason: 'no' },
    ]);
    expect(await rig.settle(run.runId)).toMatchObject({ status: 'succeeded' });
    expect(results(rig.prompts[1])).toEqual([
      ['ask_user', 'red'],
      ['look', expect.stringContaining('APPROVAL_REJECTED')],
    ]);
  });

  it('that nobody answers expires into an observation, and a rejected one is observed with its reason', async () => {
    const expired = await waitingRig({ config: { approvals: { ttl_ms: 60_000 } }, turns: [{ calls: [question] }, 'I chose myself.'] });
    expired.rig.clock.advance(60_001);
    await expired.rig.sweep();
    expect(await expired.rig.settle(expired.run.runId)).toMatchObject({ status: 'succeeded', answer: 'I chose myself.' });
    expect(results(expired.rig.prompts[1])?.[0]?.[1]).toMatch(/^APPROVAL_EXPIRED: nobody answered in time/);

    const rejected = await waitingRig({ turns: [{ calls: [question] }, 'Fine.'] });
    await rejected.rig.decide([{ approvalId: rejected.approvalIds[0] ?? '', decision: 'reject', reason: 'ask somebody else' }]);
    await rejected.rig.settle(rejected.run.runId);
    expect(results(rejected.rig.prompts[1])?.[0]?.[1]).toContain('ask somebody else');
  });

  it('is under the guard like any tool: policy denies it, the rate limit counts it', async () => {
    const denied = new LoopRig({
      config: { constraints: { guard: { tool_policy: { ask_user: 'deny' } } } },
      turns: [{ calls: [question] }, 'ok'],
    });
    expect(await denied.run()).toMatchObject({ status: 'succeeded' });
    expect(denied.prompts[0]?.tools.map(({ name }) => name)).not.toContain('ask_user');
    expect(denied.stores.state.suspensions.size).toBe(0);
    const limited = await waitingRig({
      config: { constraints: { guard: { max_tool_calls: 1 } } },
      turns: [{ calls: [question, look] }, 'ok'],
    });
    await limited.rig.decide([{ approvalId: limited.approvalIds[0] ?? '', decision: 'answer', answer: 'red' }]);
    await limited.rig.settle(limited.run.runId);
    expect(limited.rig.handled.size).toBe(0);
  });

  it('whose policy is confirm asks the person once, not for leave to ask', async () => {
    const { rig, run, approvalIds } = await waitingRig({
      config: { constraints: { guard: { default_policy: 'confirm' } } },
      turns: [{ calls: [question] }, 'ok'],
    });
    await rig.decide([{ approvalId: approvalIds[0] ?? '', decision: 'answer', answer: 'red' }]);
    expect(await rig.settle(run.runId)).toMatchObject({ status: 'succeeded' });
    expect(rig.stores.state.suspensions.size).toBe(1);
  });

  it('refuses questions that no person could answer, without asking anybody', async () => {
    for (const args of [
      {},
      { question: '' },
      { question: 'x', choices: [] },
      { question: 'x', choices: ['a', 'a'] },
      { question: 'x'.repeat(5_000) },
    ]) {
      const rig = new LoopRig({ turns: [{ calls: [['ask_user', args]] }, 'ok'] });
      expect(await rig.run()).toMatchObject({ status: 'succeeded' });
      expect(results(rig.prompts[1])?.[0]?.[1]).toMatch(/^INVALID_ARGUMENTS/);
    }
  });

  it('is not asked for ever: after three equal answers in a row the question is a loop', async () => {
    const rig = new LoopRig({ turns: (_request, turn) => (turn < 4 ? { calls: [question] } : 'ok') });
    const { runId } = await rig.run();
    for (let round = 0; round < 3; round++) {
      const [approvalId = ''] = await rig.pending(runId);
      await rig.decide([{ approvalId, decision: 'answer', answer: 'red' }]);
      await rig.settle(runId);
    }
    expect(results(rig.prompts[4])?.at(-1)?.[1]).toMatch(/^LOOP_DETECTED/);
    expect(rig.stores.state.suspensions.size).toBe(3);
  });
});
