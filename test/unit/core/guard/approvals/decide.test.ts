import { beforeEach, describe, expect, it } from 'vitest';
import { type DecisionRequest, decide } from '../../../../../lib/core/guard/approvals/decide.ts';
import type { Suspension } from '../../../../../lib/core/guard/approvals/suspension.ts';
import { createRegistry } from '../../../../../lib/core/hands/registry.ts';
import { approvalIdOf, executionName } from '../../../../../lib/core/ids.ts';
import { silentLogger } from '../../../../../lib/core/ports/logger.ts';
import { file } from '../../../../../lib/tools/file/category.ts';
import { openSuspension, RUN_ID, SUSPENSION_ID, T0, TTL_MS, waitingRun } from '../../../../support/guard.ts';
import { type MemoryStores, memoryStores } from '../../../../support/memory-stores.ts';
import { TestClock } from '../../../../support/time.ts';

const id = (callId: string): string => approvalIdOf(SUSPENSION_ID, callId);
const [first, second] = [id('c3-0'), id('c3-1')];
const registry = createRegistry([file]);
let stores: MemoryStores;
let clock: TestClock;
let failing: string | undefined;

let selfApprove: boolean;
const make = (decisions: DecisionRequest[], tenant = 't1', principal = 'alice') =>
  decide(
    { ...stores, clock, logger: silentLogger, config: { approvals: { self_approve: selfApprove } }, registry },
    { tenant, principal, how: 'api', decisions },
  );
const one = (decision: DecisionRequest['decision'], rest: Partial<DecisionRequest> = {}) =>
  make([{ approvalId: first, decision, ...rest }]);
const statuses = (): string[] => Object.values(stores.state.suspensions.get(SUSPENSION_ID)?.approvals ?? {}).map(({ status }) => status);
const resolved = async () =>
  (await stores.runs.readEvents({ tenant: 't1', runId: RUN_ID }, 0)).map(({ data, key }) => [key, data['callId'], data['status']]);

async function given(suspension: Suspension, tokens: string[] = ['token']): Promise<void> {
  const waiting = tokens.map((token) => ({ token, execution: executionName(RUN_ID, 1), at: T0 }));
  for (const token of tokens) stores.engine.waiting.add(token);
  await stores.guard.openSuspension({ ...suspension, tokens: waiting });
}

beforeEach(() => {
  failing = undefined;
  selfApprove = true;
  stores = memoryStores(async (operation) => {
    if (operation === failing) throw new Error(`${operation} failed`);
  });
  clock = new TestClock(T0);
  stores.state.runs.set(`t1#${RUN_ID}`, waitingRun());
  stores.engine.executions.set(executionName(RUN_ID, 1), 'running');
});

describe('deciding', () => {
  it('records who decided what, when and how, then wakes the run', async () => {
    await given(openSuspension());
    const [decided] = await one('approve', { reason: 'looks fine' });
    const decision = { by: 'alice', at: T0, how: 'api', reason: 'looks fine' };
    expect(decided).toMatchObject({ approvalId: first, runId: RUN_ID, approval: { status: 'approved', decision } });
    expect(stores.engine.answered).toEqual([{ token: 'token', output: { suspensionId: SUSPENSION_ID } }]);
    expect(stores.state.suspensions.get(SUSPENSION_ID)).toMatchObject({ deliveredAt: T0 });
    expect(stores.state.suspensions.get(SUSPENSION_ID)?.dueAt).toBeUndefined();
  });

  it('tells of each decision once, in the order of the calls', async () => {
    await given(openSuspension(['c3-0', 'c3-1']));
    await make([{ approvalId: second, decision: 'reject', reason: 'no' }]);
    expect(await resolved()).toEqual([['EVT#000003#2#0002', 'c3-1', 'rejected']]);
    await one('approve');
    expect(await resolved()).toEqual([
      ['EVT#000003#2#0001', 'c3-0', 'approved'],
      ['EVT#000003#2#0002', 'c3-1', 'rejected'],
    ]);
  });

  it('wakes the run with the last decision only', async () => {
    await given(openSuspension(['c3-0', 'c3-1']));
    await one('approve');
    expect(stores.engine.answered).toEqual([]);
    await make([{ approvalId: second, decision: 'reject' }]);
    expect(stores.engine.answered).toHaveLength(1);
  });

  it('refuses edited arguments that the tool would refuse, with the place, and leaves the approval open', async () => {
    await given(openSuspension(['c3-0', 'c3-1']));
    await expect(one('approve', { arguments: { path: 7, content: '', mode: 'append' } })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENTS',
      field: 'arguments/path',
      message: expect.stringContaining('path: must be string'),
    });
    const both: DecisionRequest[] = [
      { approvalId: first, decision: 'approve' },
      { approvalId: second, decision: 'approve', arguments: { path: 'b.md', text: 'x' } },
    ];
    await expect(make(both)).rejects.toMatchObject({
      code: 'INVALID_ARGUMENTS',
      field: expect.stringMatching(/^decisions\/1\/arguments\//),
    });
    expect([statuses(), stores.engine.answered]).toEqual([['pending', 'pending'], []]);
    await one('approve', { arguments: { path: 'b.md', content: '' } });
    expect(statuses()).toEqual(['edited', 'pending']);
  });

  it('takes several at once, all or none', async () => {
    await given(openSuspension(['c3-0', 'c3-1']));
    await make([{ approvalId: second, decision: 'reject' }]);
    const both: DecisionRequest[] = [
      { approvalId: first, decision: 'approve' },
      { approvalId: second, decision: 'approve' },
    ];
    await expect(make(both)).rejects.toMatchObject({ code: 'ALREADY_DECIDED', extra: { status: 'rejected' } });
    expect(statuses()).toEqual(['pending', 'rejected']);
    await make([
      { approvalId: first, decision: 'approve' },
      { approvalId: second, decision: 'reject' },
    ]);
    expect(statuses()).toEqual(['approved', 'rejected']);
  });

  it('accepts the same decision again and refuses another', async () => {
    await given(openSuspension());
    await one('approve');
    expect((await one('approve', { reason: 'again' }))[0]?.approval.decision).toEqual({ by: 'alice', at: T0, how: 'api' });
    await expect(one('reject')).rejects.toMatchObject({ code: 'ALREADY_DECIDED' });
    await expect(one('approve', { arguments: { path: 'b', content: '' } })).rejects.toMatchObject({ code: 'ALREADY_DECIDED' });
    expect(stores.engine.answered).toHaveLength(1);
  });

  it('does not lose a decision when the engine fails: repeating it delivers', async () => {
    await given(openSuspension());
    failing = 'sendTaskSuccess';
    expect((await one('approve'))[0]?.approval.status).toBe('approved');
    expect(stores.state.suspensions.get(SUSPENSION_ID)).toMatchObject({ dueAt: T0 });
    failing = undefined;
    await one('approve');
    expect(stores.engine.answered).toHaveLength(1);
  });

  it('does not wake the run before the decision is in the event log', async () => {
    await given(openSuspension());
    failing = 'write';
    await one('approve');
    expect(statuses()).toEqual(['approved']);
    expect(stores.engine.answered).toEqual([]);
    failing = undefined;
    await one('approve');
    expect(await resolved()).toHaveLength(1);
    expect(stores.engine.answered).toHaveLength(1);
  });

  it('answers an unknown id, a malformed one and another tenant in the same words', async () => {
    await given(openSuspension());
    const unknown = approvalIdOf(`${RUN_ID}-9`, 'c3-0');
    const attempts = [
      make([{ approvalId: unknown, decision: 'approve' }]),
      make([{ approvalId: id('c3-7'), decision: 'approve' }]),
      make([{ approvalId: 'nonsense', decision: 'approve' }]),
      make([{ approvalId: first, decision: 'approve' }], 't2'),
    ];
    const errors = await Promise.all(
      attempts.map((attempt) => attempt.catch((error: Error & { code: string }) => `${error.code} ${error.message}`)),
    );
    expect(new Set(errors)).toEqual(new Set(['NOT_FOUND there is no such approval']));
    expect(statuses()).toEqual(['pending']);
  });

  it('expires what it is too late for, and wakes the run with that', async () => {
    await given(openSuspension());
    clock.advance(TTL_MS);
    await expect(one('approve')).rejects.toMatchObject({ code: 'EXPIRED' });
    expect(statuses()).toEqual(['expired']);
    expect(stores.engine.answered).toHaveLength(1);
    await expect(one('approve')).rejects.toMatchObject({ code: 'EXPIRED' });
  });

  it('takes a decision in the last millisecond', async () => {
    await given(openSuspension());
    clock.advance(TTL_MS - 1);
    await one('approve');
    expect(statuses()).toEqual(['approved']);
  });

  it('refuses to decide on what was cancelled', async () => {
    await given(openSuspension());
    await stores.guard.changeSuspension(SUSPENSION_ID, { kind: 'cancel', now: T0, callIds: ['c3-0'], by: 'bob' });
    await expect(one('approve')).rejects.toMatchObject({ code: 'ALREADY_DECIDED', extra: { status: 'cancelled' } });
  });

  it('keeps edited arguments for the step that checks them again', async () => {
    await given(openSuspension());
    const [decided] = await one('approve', { arguments: { path: 'b.md', content: '' } });
    expect(decided?.approval).toMatchObject({
      status: 'edited',
      arguments: { path: 'a.md' },
      decision: { arguments: { path: 'b.md', content: '' } },
    });
    await expect(one('approve', { arguments: { path: 'b.md', content: '' } })).resolves.toHaveLength(1);
  });

  it.each<[string, Partial<DecisionRequest>, string, string]>([
    ['a reason that is too long', { decision: 'reject', reason: 'é'.repeat(1025) }, 'BAD_REQUEST', 'reason'],
    ['arguments with a rejection', { decision: 'reject', arguments: {} }, 'BAD_REQUEST', 'arguments'],
    ['an answer to a tool call', { decision: 'answer', answer: 'yes' }, 'BAD_REQUEST', 'decision'],
    ['an answer with an approval', { decision: 'approve', answer: 'yes' }, 'BAD_REQUEST', 'answer'],
    ['arguments that are too large', { decision: 'approve', arguments: { text: 'x'.repeat(131_072) } }, 'BAD_REQUEST', 'arguments'],
  ])('refuses %s, naming the field', async (_what, request, code, field) => {
    await given(openSuspension());
    await expect(make([{ approvalId: first, decision: 'approve', ...request }])).rejects.toMatchObject({ code, field });
    expect(statuses()).toEqual(['pending']);
  });

  it('takes an answer to a question, and nothing but an answer or a rejection', async () => {
    const suspension = openSuspension();
    const approval = suspension.approvals['c3-0'];
    if (approval) approval.kind = 'question';
    await given(suspension);
    await expect(one('approve')).rejects.toMatchObject({ code: 'BAD_REQUEST', field: 'decision' });
    await expect(one('answer')).rejects.toMatchObject({ code: 'BAD_REQUEST', field: 'answer' });
    expect((await one('answer', { answer: 'blue' }))[0]?.approval).toMatchObject({ status: 'answered', decision: { answer: 'blue' } });
    await expect(one('answer', { answer: 'red' })).rejects.toMatchObject({ code: 'ALREADY_DECIDED' });
  });

  it('takes one of the choices where a question offers some', async () => {
    const suspension = openSuspension();
    const approval = suspension.approvals['c3-0'];
    if (approval)
      Object.assign(approval, { kind: 'question', tool: 'ask_user', arguments: { question: 'Which?', choices: ['red', 'blue'] } });
    await given(suspension);
    for (const answer of ['green', '', 'Red', 'red '])
      await expect(one('answer', { answer })).rejects.toMatchObject({
        code: 'BAD_REQUEST',
        field: 'answer',
        message: expect.stringContaining('red | blue'),
      });
    expect(statuses()).toEqual(['pending']);
    expect((await one('answer', { answer: 'blue' }))[0]?.approval.status).toBe('answered');
  });

  it('refuses the approval of whoever started the run where `self_approve` is false; another person may approve', async () => {
    selfApprove = false;
    await given(openSuspension(['c3-0', 'c3-1']));
    await expect(one('approve')).rejects.toMatchObject({ code: 'FORBIDDEN', field: 'decision' });
    await expect(one('approve', { arguments: { path: 'mine.md', content: '' } })).rejects.toMatchObject({ code: 'FORBIDDEN' });
    const both = [first, second].map((approvalId, n): DecisionRequest => ({ approvalId, decision: n === 0 ? 'reject' : 'approve' }));
    await expect(make(both)).rejects.toMatchObject({ code: 'FORBIDDEN' });
    expect(statuses()).toEqual(['pending', 'pending']);
    await make([{ approvalId: first, decision: 'approve' }], 't1', 'bob');
    await make([{ approvalId: second, decision: 'reject' }]);
    expect(statuses()).toEqual(['approved', 'rejected']);
  });

  it.each([
    ['another session of the role', 'arn:aws:sts::123456789012:assumed-role/dev/ann', 'arn:aws:sts::123456789012:assumed-role/dev/bob'],
    ['another name of a federated user', 'arn:aws:sts::123456789012:federated-user/ann', 'arn:aws:sts::123456789012:federated-user/bob'],
    ['the same in another partition', 'arn:aws-cn:sts::123456789012:assumed-role/dev/a', 'arn:aws-cn:sts::123456789012:assumed-role/dev/b'],
  ])('takes %s for whoever started the run: they named themselves', async (_what, starter, decider) => {
    selfApprove = false;
    await given({ ...openSuspension(), principal: starter });
    await expect(make([{ approvalId: first, decision: 'approve' }], 't1', decider)).rejects.toMatchObject({ code: 'FORBIDDEN' });
    expect(statuses()).toEqual(['pending']);
  });

  it.each([
    ['another role', 'arn:aws:sts::123456789012:assumed-role/dev/ann', 'arn:aws:sts::123456789012:assumed-role/lead/ann'],
    ['a role of another account', 'arn:aws:sts::123456789012:assumed-role/dev/ann', 'arn:aws:sts::210987654321:assumed-role/dev/ann'],
    ['another user', 'arn:aws:iam::123456789012:user/ann', 'arn:aws:iam::123456789012:user/bob'],
    [
      'a subject that looks like an ARN',
      'jwt:arn:aws:sts::123456789012:assumed-role/dev/ann',
      'jwt:arn:aws:sts::123456789012:assumed-role/dev/b',
    ],
  ])('lets %s approve, and keeps the whole name', async (_what, starter, decider) => {
    selfApprove = false;
    await given({ ...openSuspension(), principal: starter });
    const [decided] = await make([{ approvalId: first, decision: 'approve' }], 't1', decider);
    expect(decided?.approval.decision?.by).toBe(decider);
  });

  it('refuses a change of arguments that were shown cut, and takes them as they are', async () => {
    const suspension = openSuspension();
    const approvals = Object.entries(suspension.approvals).map(([callId, approval]) => [callId, { ...approval, argumentsCut: true }]);
    await given({ ...suspension, approvals: Object.fromEntries(approvals) });
    const edit = one('approve', { arguments: { path: 'other.md', content: 'x … [104000 more characters]' } });
    await expect(edit).rejects.toMatchObject({ code: 'BAD_REQUEST', field: 'arguments' });
    expect(statuses()).toEqual(['pending']);
    expect((await one('approve'))[0]?.approval.status).toBe('approved');
  });

  it('refuses contradictions, mixtures and nothing at all', async () => {
    await given(openSuspension(['c3-0', 'c3-1']));
    const contradiction = make([
      { approvalId: first, decision: 'approve' },
      { approvalId: first, decision: 'reject' },
    ]);
    await expect(contradiction).rejects.toMatchObject({ code: 'BAD_REQUEST', field: 'decisions/1/decision' });
    const mixture = make([
      { approvalId: first, decision: 'approve' },
      { approvalId: approvalIdOf(`${RUN_ID}-4`, 'c4-0'), decision: 'approve' },
    ]);
    await expect(mixture).rejects.toMatchObject({ code: 'BAD_REQUEST', field: 'decisions' });
    await expect(make([])).rejects.toMatchObject({ code: 'BAD_REQUEST', field: 'decisions' });
    expect(statuses()).toEqual(['pending', 'pending']);
  });

  it('refuses decisions that would burst the item', async () => {
    const callIds = ['c3-0', 'c3-1', 'c3-2', 'c3-3'];
    await given(openSuspension(callIds));
    const edits = callIds.map(
      (callId): DecisionRequest => ({
        approvalId: id(callId),
        decision: 'approve',
        arguments: { path: 'a', content: 'x'.repeat(120_000) },
      }),
    );
    await expect(make(edits)).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
    await make(edits.slice(0, 1));
    expect(statuses()).toEqual(['edited', 'pending', 'pending', 'pending']);
  });
});
