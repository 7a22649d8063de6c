import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apiClient } from './api-client.ts';
import type { Runner } from './runner.ts';

/** What must hold wherever the product runs: over HTTP, with the real state machine, tools, guard and tables. */
export function loopSuite(name: string, start: () => Promise<Runner>): void {
  describe(`the loop, ${name}`, () => {
    let runner: Runner;
    let api: ReturnType<typeof apiClient>;
    beforeAll(async () => {
      runner = await start();
      api = apiClient(runner);
    }, 600_000);
    afterAll(async () => runner?.close());

    const types = async (runId: string): Promise<string[]> => (await api.events(runId)).map((event) => event.type);
    const kinds = (states: readonly string[]): string[] => [...states];

    it('answers', async () => {
      const run = await api.ended(await api.start('scenario-answer'));
      expect(run).toMatchObject({
        status: 'succeeded',
        outcome: 'completed',
        answer: 'Forty-two.',
        usage: { promptTokens: 11, completionTokens: 3 },
      });
      expect(await types(run.runId)).toEqual(['run.started', 'llm.call.completed', 'run.finished']);
      if (runner.transitions) expect(kinds(await runner.transitions(`${run.runId}-1`))).toEqual(['Reason', 'Route', 'Finish']);
    });

    it('runs a tool in its sandbox and takes 4 transitions to the next LLM call', async () => {
      const run = await api.ended(await api.start('scenario-tool'));
      expect(run).toMatchObject({ status: 'succeeded', answer: 'The file says hello\n', effects: { 'code.exec': 1 } });
      if (runner.transitions)
        expect(kinds(await runner.transitions(`${run.runId}-1`))).toEqual([
          'Reason',
          'Route',
          'Act',
          'Invoke',
          'Reason',
          'Route',
          'Finish',
        ]);
    });

    it('tells the LLM of a tool that failed', async () => {
      expect(await api.ended(await api.start('scenario-failure'))).toMatchObject({ status: 'succeeded', answer: 'There is no such file.' });
    });

    it('R47: answers an unknown tool and runs the good call beside it', async () => {
      expect(await api.ended(await api.start('scenario-unknown'))).toMatchObject({ status: 'succeeded', answer: 'No rockets.' });
    });

    it('runs parallel calls in one stage, 3 + n transitions', async () => {
      const run = await api.ended(await api.start('scenario-parallel'));
      expect(run).toMatchObject({ status: 'succeeded', answer: 'Three results.' });
      if (runner.transitions) {
        const states = await runner.transitions(`${run.runId}-1`);
        expect(states.slice(0, 3)).toEqual(['Reason', 'Route', 'Act']);
        expect(states.filter((state) => state === 'Invoke')).toHaveLength(3);
        expect(states).toHaveLength(6 + 3);
      }
    });

    it('runs serial calls one after another in one workspace', async () => {
      expect(await api.ended(await api.start('scenario-serial'))).toMatchObject({
        status: 'succeeded',
        answer: 'In order.',
        effects: { 'code.exec': 3, 'fs.read': 1 },
      });
    });

    it('does not show or run a tool that policy denies', async () => {
      const run = await api.ended(await api.start('scenario-denied'));
      expect(run).toMatchObject({ status: 'succeeded', answer: 'Not allowed.' });
      expect(await types(run.runId)).not.toContain('tool.call.started');
    });

    it('waits for a person and runs what was approved; a second click changes nothing (R5, R31)', async () => {
      const runId = await api.start('scenario-write');
      const [approval] = await api.approvals(runId, 1);
      expect(approval).toMatchObject({
        kind: 'tool',
        status: 'pending',
        tool: 'write_file',
        arguments: { path: 'report.md', content: '# Report' },
      });
      expect((await api.call('GET', `/runs/${runId}`)).body.status).toBe('waiting');
      const click = () => api.call('POST', `/approvals/${approval.approvalId}`, { decision: 'approve' });
      const clicks = await Promise.all([click(), click()]);
      expect(clicks.map(({ status }) => status)).toEqual([200, 200]);
      expect((await api.call('POST', `/approvals/${approval.approvalId}`, { decision: 'reject' })).body).toMatchObject({
        status: 409,
        code: 'ALREADY_DECIDED',
      });
      const run = await api.ended(runId);
      expect(run).toMatchObject({ status: 'succeeded', effects: { 'fs.write': 1 } });
      const log = await types(runId);
      expect(log.filter((type) => type === 'approval.requested' || type === 'approval.resolved')).toEqual([
        'approval.requested',
        'approval.resolved',
      ]);
      if (runner.transitions)
        expect((await runner.transitions(`${runId}-1`)).slice(0, 7)).toEqual([
          'Reason',
          'Route',
          'Suspend',
          'Reason',
          'Route',
          'Act',
          'Invoke',
        ]);
    });

    it('exports a run with its messages, its events and what people decided', async () => {
      const runId = await api.start('scenario-write');
      const [approval] = await api.approvals(runId, 1);
      await api.call('POST', `/approvals/${approval.approvalId}`, { decision: 'reject', reason: 'not today' });
      await api.ended(runId);
      const { status, body } = await api.call('GET', `/runs/${runId}/export`);
      expect(status).toBe(200);
      expect(body.run).toMatchObject({ runId, status: 'succeeded' });
      expect(body.messages.length).toBeGreaterThanOrEqual(4);
      expect(JSON.stringify(body.suspensions)).toContain('not today');
      expect(body.events.map(({ type }: { type: string }) => type)).toEqual(await types(runId));
    });

    it('tells the LLM of a rejection and does not run the call (R3)', async () => {
      const runId = await api.start('scenario-write');
      const [approval] = await api.approvals(runId, 1);
      await api.call('POST', `/approvals/${approval.approvalId}`, { decision: 'reject', reason: 'not on a Friday' });
      const run = await api.ended(runId);
      expect(run.answer).toContain('APPROVAL_REJECTED');
      expect(run.answer).toContain('not on a Friday');
      expect(run.effects).toEqual({});
    });

    it('decides two calls of one batch apart; the free one waits for both (R1, R9, R15)', async () => {
      const runId = await api.start('scenario-two-writes');
      const approvals = await api.approvals(runId, 2);
      const of = (path: string) => approvals.find((approval) => approval.arguments.path === path).approvalId;
      await Promise.all([
        api.call('POST', `/approvals/${of('one.md')}`, { decision: 'approve' }),
        api.call('POST', `/approvals/${of('two.md')}`, { decision: 'reject' }),
      ]);
      const run = await api.ended(runId);
      expect(run.answer).toMatch(/One \{[\s\S]*"one\.md"[\s\S]* and two APPROVAL_REJECTED/);
      expect(run.effects).toEqual({ 'fs.write': 1, 'fs.read': 1 });
    });

    it('asks the user a question and goes on with the answer', async () => {
      const runId = await api.start('scenario-question');
      const [approval] = await api.approvals(runId, 1);
      expect(approval).toMatchObject({
        kind: 'question',
        tool: 'ask_user',
        arguments: { question: 'Which colour?', choices: ['red', 'blue'] },
      });
      const answer = (text: string) => api.call('POST', `/approvals/${approval.approvalId}`, { decision: 'answer', answer: text });
      expect((await answer('green')).body).toMatchObject({ status: 400, field: 'answer' });
      expect((await answer('blue')).body).toMatchObject({ status: 'answered' });
      expect(await api.ended(runId)).toMatchObject({ status: 'succeeded', answer: 'You chose blue.', effects: { 'fs.read': 1 } });
    });

    it('cancels a run that waits for a person', async () => {
      const runId = await api.start('scenario-write');
      await api.approvals(runId, 1);
      expect((await api.call('POST', `/runs/${runId}/cancel`)).status).toBeLessThan(300);
      await runner.sweep?.();
      expect(await api.ended(runId)).toMatchObject({ status: 'cancelled', outcome: 'cancelled' });
      expect(
        (await api.call('GET', '/approvals')).body.approvals.filter((approval: { runId: string }) => approval.runId === runId),
      ).toEqual([]);
    });

    it('goes on in a second execution before the history is full', { timeout: 180_000 }, async () => {
      const run = await api.ended(await api.start('scenario-long'));
      expect(run).toMatchObject({ status: 'succeeded', answer: 'Twelve rounds.' });
      expect(await types(run.runId)).toContain('run.continued');
      if (runner.transitions) {
        expect(await runner.transitions(`${run.runId}-1`)).toContain('Continue');
        expect((await runner.transitions(`${run.runId}-2`)).length).toBeGreaterThan(0);
      }
    });

    it('keeps one run per session and names the one that is active', async () => {
      const runId = await api.start('scenario-write', { sessionId: `busy-${Date.now()}` });
      const { sessionId } = (await api.call('GET', `/runs/${runId}`)).body;
      expect((await api.call('POST', '/runs', { input: 'scenario-answer', sessionId })).body).toMatchObject({
        status: 409,
        code: 'SESSION_BUSY',
        runId,
      });
      await api.call('POST', `/runs/${runId}/cancel`);
      await api.ended(runId);
      expect(await api.ended(await api.start('scenario-answer', { sessionId }))).toMatchObject({ status: 'succeeded' });
    });

    it('starts one run for one idempotency key', async () => {
      const key = `key-${Date.now()}`;
      const first = await api.start('scenario-answer', { idempotencyKey: key });
      expect(await api.start('scenario-answer', { idempotencyKey: key })).toBe(first);
      expect((await api.call('POST', '/runs', { input: 'scenario-tool', idempotencyKey: key })).status).toBe(409);
      await api.ended(first);
    });

    it('ends as failed, with what the model said, when the model fails', async () => {
      const run = await api.ended(await api.start('scenario-model-error'));
      expect(run).toMatchObject({ status: 'failed', outcome: 'error' });
      expect(run.error.message).toContain('overloaded');
    });

    it('asks a person before a run that has looked at files reaches out; an approval opens no way to the metadata service', async () => {
      const runId = await api.start('scenario-flow');
      const [approval] = await api.approvals(runId, 1);
      expect(approval).toMatchObject({ kind: 'tool', tool: 'web_fetch', reason: expect.stringContaining('fs.read') });
      await api.call('POST', `/approvals/${approval.approvalId}`, { decision: 'approve' });
      const run = await api.ended(runId);
      expect(run.answer).toContain('PERMISSION_DENIED');
      expect(run.effects).toEqual({ 'fs.read': 1 });
    });

    it('decides equal calls of one batch apart, and refuses one answer for both (R15, R17)', async () => {
      const runId = await api.start('scenario-same-writes');
      const [first, second] = await api.approvals(runId, 2);
      expect(first.approvalId).not.toBe(second.approvalId);
      expect((await api.call('POST', '/approvals', { decision: 'approve' })).status).toBe(400);
      const answers = await Promise.all([
        api.call('POST', `/approvals/${first.approvalId}`, { decision: 'approve' }),
        api.call('POST', `/approvals/${second.approvalId}`, { decision: 'reject' }),
      ]);
      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
      expect(await api.ended(runId)).toMatchObject({ status: 'succeeded', effects: { 'fs.write': 1 } });
    });

    it('asks for each round of one run, and brings each its own result (R11)', async () => {
      const runId = await api.start('scenario-two-rounds');
      for (const path of ['first.md', 'second.md']) {
        const approval = await api.until(`the approval of ${path}`, async () =>
          (await api.approvals(runId, 1)).find((pending) => pending.arguments.path === path),
        );
        await api.call('POST', `/approvals/${approval.approvalId}`, { decision: 'approve' });
      }
      expect((await api.ended(runId)).answer).toMatch(/^Second: [\s\S]*second\.md/);
    });

    it('dispatches one of three parallel calls when one is left (R61)', async () => {
      const run = await api.ended(await api.start('scenario-three-looks', { constraints: { guard: { max_tool_calls: 1 } } }));
      expect(run).toMatchObject({ status: 'succeeded', effects: { 'fs.read': 1 } });
      expect(run.answer.match(/GUARD_DENIED/g)).toHaveLength(2);
      expect((await api.events(run.runId)).filter(({ type }) => type === 'tool.call.started')).toHaveLength(1);
    });

    it('lets six runs at once share two places', { timeout: 180_000 }, async () => {
      const runIds = await Promise.all(Array.from({ length: 6 }, () => api.start('scenario-tool')));
      const runs = await Promise.all(runIds.map((runId) => api.ended(runId)));
      expect(runs.map(({ answer }) => answer)).toEqual(runIds.map(() => 'The file says hello\n'));
    });

    it('expires an approval that nobody decides, and goes on', { timeout: 180_000 }, async () => {
      const runId = await api.start('scenario-write');
      await api.approvals(runId, 1);
      const run = await api.until('the expiry', async () => {
        await runner.sweep?.();
        const { body } = await api.call('GET', `/runs/${runId}`);
        return body.status === 'succeeded' ? body : undefined;
      });
      expect(run.answer).toContain('APPROVAL_EXPIRED');
    });
  });
}
