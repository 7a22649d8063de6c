import { expect, test } from 'vitest';
import { followRun } from '../../../lib/cli/follow.ts';
import { createScreen } from '../../../lib/cli/screen.ts';
import { fakeClient, fakeView, shownEvent } from './fake-client.ts';
import { type FakeContext, fakeContext } from './fake-context.ts';

const PACE = { first: 1, last: 2 };
const started = shownEvent(1, 0, 'tool.call.started', { callId: 'c1-0', tool: 'read_file', args_preview: '{}' });
const progress = {
  ...shownEvent(1, 1, 'tool.call.progress', { callId: 'c1-0', tool: 'read_file', elapsedMs: 5000 }),
  key: 'EVT#000001#9#1',
};
const done = shownEvent(2, 0, 'tool.call.completed', { callId: 'c1-0', tool: 'read_file', duration: 3, result_preview: 'text' });

function options(context: FakeContext, client: ReturnType<typeof fakeClient>) {
  return {
    client,
    runId: client.url,
    screen: createScreen(context.stderr, {}),
    signal: new AbortController().signal,
    pace: PACE,
    onInterrupt: 'it goes on',
    onApprovals: async (): Promise<'decided' | 'leave'> => 'decided',
  };
}

test('each event is told once, though every answer repeats the last step, and the next question begins there', async () => {
  const context = fakeContext();
  const client = fakeClient({
    run: () => fakeView('succeeded', [], { answer: 'done' }),
    pages: [
      { status: 'running', events: [started], next: 1, more: true },
      { status: 'running', events: [started, progress], next: 1 },
      { status: 'succeeded', events: [started, done], next: 2 },
    ],
  });
  const run = await followRun(options(context, client));
  expect(run.answer).toBe('done');
  expect(client.asked).toEqual([0, 1, 1]);
  expect(context.err()).toBe('→ read_file {}\n… read_file is at work, 5.0 s\n✓ read_file 3 ms text\n');
});

test('on a terminal the last line shows the calls at work with their time, so progress needs no line of its own', async () => {
  const context = fakeContext({ terminal: true });
  const client = fakeClient({
    run: () => fakeView('succeeded'),
    pages: [
      { status: 'running', events: [started, progress], next: 1 },
      { status: 'succeeded', events: [done], next: 2 },
    ],
  });
  await followRun(options(context, client));
  expect(context.err()).toMatch(/read_file \d+ ms/);
  expect(context.err()).not.toContain('is at work');
  expect(context.err().endsWith('\r\u001b[2K')).toBe(true);
});

test('a run that waits for a person asks once per stop and goes on with the decision', async () => {
  const context = fakeContext();
  let view = fakeView('waiting', ['write_file']);
  let asked = 0;
  const client = fakeClient({ run: () => view });
  const run = await followRun({
    ...options(context, client),
    onApprovals: async (waiting) => {
      expect(waiting.approvals).toHaveLength(1);
      asked += 1;
      view = fakeView('succeeded');
      return 'decided';
    },
  });
  expect([asked, run.status]).toEqual([1, 'succeeded']);
});

test('a run whose approvals are left is given back as it waits', async () => {
  const client = fakeClient({ run: () => fakeView('waiting', ['write_file']) });
  const run = await followRun({ ...options(fakeContext(), client), onApprovals: async () => 'leave' });
  expect(run.status).toBe('waiting');
});

test('Ctrl-C ends the following and says what becomes of the run', async () => {
  const controller = new AbortController();
  const client = fakeClient({ run: () => fakeView('running') });
  const following = followRun({ ...options(fakeContext(), client), signal: controller.signal });
  controller.abort('SIGINT');
  await expect(following).rejects.toMatchObject({ message: 'it goes on', exitCode: 130 });
});
