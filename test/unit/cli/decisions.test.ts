import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { RunView } from '../../../lib/api/views/run-view.ts';
import { decideApprovals } from '../../../lib/cli/decisions.ts';
import { loadEnvironment } from '../../../lib/cli/environment.ts';
import { createScreen } from '../../../lib/cli/screen.ts';
import { HandrailError } from '../../../lib/core/errors.ts';
import { type FakeClient, fakeClient, fakeView } from './fake-client.ts';
import { type FakeContext, fakeContext } from './fake-context.ts';

const QUESTION = 'Approve? [y/N]';

function decide(context: FakeContext, run: RunView, client: FakeClient, over: { nonTtyPending?: boolean; signal?: AbortSignal } = {}) {
  const command = {
    context,
    environment: loadEnvironment(context, () => undefined),
    screen: createScreen(context.stderr, { NO_COLOR: '1' }),
  };
  return decideApprovals(command, run, {
    client,
    signal: over.signal ?? new AbortController().signal,
    nonTtyPending: over.nonTtyPending,
    onInterrupt: 'it is kept',
  });
}

/** The person types once the question stands there. */
const type = (context: FakeContext, ...answers: string[]): Promise<void> => typeAfter(context, QUESTION, ...answers);

async function typeAfter(context: FakeContext, prompt: string, ...answers: string[]): Promise<void> {
  for (const [index, answer] of answers.entries()) {
    while (context.err().split(prompt).length < index + 2) await pause(1);
    await turn();
    context.stdin.write(answer);
  }
}

const run = fakeView('waiting', ['write_file']);
const [approval] = run.approvals;

test('the person sees tool, arguments and rule before the question', async () => {
  const context = fakeContext({ terminal: true });
  const client = fakeClient({ run: () => run });
  await Promise.all([decide(context, run, client), type(context, 'y\r')]);
  const [shown = ''] = context.err().split(QUESTION);
  expect(shown).toContain('write_file needs approval: tool policy: write_file is confirm (app)');
  expect(shown).toContain('path: report.md');
  expect(shown).toContain('# Sales\n      <script>alert(1)</script>');
});

test.each([
  ['y\r', 'approve'],
  ['YES\r', 'approve'],
  ['\r', 'reject'],
  ['n\r', 'reject'],
])('the answer %j is taken as %s', async (typed, decision) => {
  const context = fakeContext({ terminal: true });
  const client = fakeClient({ run: () => run });
  const [outcome] = await Promise.all([decide(context, run, client), type(context, typed)]);
  expect(outcome).toBe('decided');
  expect(client.decided).toEqual([{ approvalId: approval?.approvalId, decision }]);
});

test('an answer that is neither is asked again', async () => {
  const context = fakeContext({ terminal: true });
  const client = fakeClient({ run: () => run });
  await Promise.all([decide(context, run, client), type(context, 'ok?\r', 'y\r')]);
  expect(client.decided).toEqual([{ approvalId: approval?.approvalId, decision: 'approve' }]);
});

test('what was typed before the question is no answer to it', async () => {
  const context = fakeContext({ terminal: true });
  context.stdin.write('y\r');
  const client = fakeClient({ run: () => run });
  await Promise.all([decide(context, run, client), type(context, 'n\r')]);
  expect(client.decided).toEqual([{ approvalId: approval?.approvalId, decision: 'reject' }]);
});

describe('a question of the agent', () => {
  const asked = (choices: string[] | undefined) => {
    const view = fakeView('waiting', ['ask_user']);
    for (const one of view.approvals)
      Object.assign(one, { kind: 'question', arguments: { question: 'Which colour?', ...(choices ? { choices } : {}) } });
    return view;
  };
  test.each([
    [['red', 'blue'], 'blue\r', { decision: 'answer', answer: 'blue' }],
    [['red', 'blue'], '2\r', { decision: 'answer', answer: 'blue' }],
    [['2', '1'], '1\r', { decision: 'answer', answer: '1' }],
    [undefined, ' as you like \r', { decision: 'answer', answer: 'as you like' }],
    [['red'], '\r', { decision: 'reject', reason: 'the person gave no answer' }],
    [undefined, '\r', { decision: 'reject', reason: 'the person gave no answer' }],
  ])('of the choices %j is answered by %j', async (choices, typed, decision) => {
    const view = asked(choices);
    const context = fakeContext({ terminal: true });
    const client = fakeClient({ run: () => view });
    await Promise.all([decide(context, view, client), typeAfter(context, 'Answer (', typed)]);
    expect(context.err()).toContain('ask_user asks you a question');
    expect(context.err()).toContain('question: Which colour?');
    expect(client.decided).toEqual([{ approvalId: view.approvals[0]?.approvalId, ...decision }]);
  });

  test('is asked again while the answer is none of its choices', async () => {
    const view = asked(['red', 'blue']);
    const context = fakeContext({ terminal: true });
    const client = fakeClient({ run: () => view });
    await Promise.all([decide(context, view, client), typeAfter(context, 'Answer (', 'green\r', '3\r', '0\r', 'red\r')]);
    expect(client.decided).toMatchObject([{ decision: 'answer', answer: 'red' }]);
  });
});

test('each approval of a stop is a question of its own', async () => {
  const both = fakeView('waiting', ['write_file', 'execute_shell']);
  const context = fakeContext({ terminal: true });
  const client = fakeClient({ run: () => both });
  await Promise.all([decide(context, both, client), type(context, 'y\r', 'n\r')]);
  expect(client.decided.map(({ decision }) => decision)).toEqual(['approve', 'reject']);
});

test('arguments cannot make the question look like another', async () => {
  const hostile = fakeView('waiting', ['write_file']);
  for (const one of hostile.approvals) one.arguments = { path: 'a\u001b[2J\u202Etxt.exe', '\u001b[1Aname': { deep: '\u0007' } };
  const context = fakeContext({ terminal: true });
  await Promise.all([decide(context, hostile, fakeClient({ run: () => hostile })), type(context, 'n\r')]);
  const [shown = ''] = context.err().split(QUESTION);
  expect(shown).toContain('a\\u{1b}[2J\\u{202e}txt.exe');
  expect(shown).toContain('\\u{1b}[1Aname:');
  expect(shown).toContain('\\u0007');
});

test('Ctrl-C at the question decides nothing', async () => {
  const controller = new AbortController();
  const context = fakeContext({ terminal: true });
  context.signals.on('SIGINT', () => controller.abort());
  const client = fakeClient({ run: () => run });
  await Promise.all([
    expect(decide(context, run, client, { signal: controller.signal })).rejects.toMatchObject({ exitCode: 130, message: 'it is kept' }),
    type(context, '\u0003'),
  ]);
  expect(client.decided).toEqual([]);
});

test('a decision made elsewhere ends the question', async () => {
  const context = fakeContext({ terminal: true });
  const client = fakeClient({ run: () => run, approvalStatus: () => 'approved' });
  expect(await decide(context, run, client)).toBe('decided');
  expect(context.err()).toContain('decided elsewhere');
  expect(client.decided).toEqual([]);
});

test('a decision that comes too late is no error', async () => {
  const context = fakeContext({ terminal: true });
  const client = fakeClient({
    run: () => run,
    decide: () => {
      throw new HandrailError('ALREADY_DECIDED', 'it is rejected already');
    },
  });
  const [outcome] = await Promise.all([decide(context, run, client), type(context, 'y\r')]);
  expect(outcome).toBe('decided');
});

test('without a terminal everything is rejected, and the agent is told why', async () => {
  const both = fakeView('waiting', ['write_file', 'execute_shell']);
  const client = fakeClient({ run: () => both });
  expect(await decide(fakeContext(), both, client)).toBe('decided');
  expect(client.decided.map(({ decision }) => decision)).toEqual(['reject', 'reject']);
  expect(client.decided[0]?.reason).toContain('no terminal');
});

test.each([
  ['as the server is configured', { configured: true, said: undefined }],
  ['with --non-tty-pending, whatever the server says', { configured: false, said: true }],
])('without a terminal everything is left, and shown, %s', async (_what, { configured, said }) => {
  const context = fakeContext();
  const client = fakeClient({ run: () => run, nonTtyPending: configured });
  expect(await decide(context, run, client, said === undefined ? {} : { nonTtyPending: said })).toBe('leave');
  expect(client.decided).toEqual([]);
  expect(context.err()).toContain(approval?.approvalId);
});

test.each([
  ['as the server is configured', { configured: false, said: undefined }],
  ['by a server that does not say', { configured: undefined, said: undefined }],
  ['with --no-non-tty-pending, whatever the server says', { configured: true, said: false }],
])('without a terminal everything is rejected, %s', async (_what, { configured, said }) => {
  const client = fakeClient({ run: () => run, nonTtyPending: configured });
  expect(await decide(fakeContext(), run, client, said === undefined ? {} : { nonTtyPending: said })).toBe('decided');
  expect(client.decided).toMatchObject([{ decision: 'reject' }]);
});
