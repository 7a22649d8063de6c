import { expect, test } from 'vitest';
import { interruptible, pauseOr } from '../../../lib/cli/interrupt.ts';
import { Exited, fakeContext } from './fake-context.ts';

const untilAborted = (signal: AbortSignal) => pauseOr(60_000, signal);

test('Ctrl-C lets the work stop by itself', async () => {
  const context = fakeContext();
  const work = interruptible(context, async (signal) => [await untilAborted(signal), signal.reason]);
  context.signals.emit('SIGINT');
  expect(await work).toEqual([true, 'SIGINT']);
  expect(context.signals.listenerCount('SIGINT')).toBe(0);
  expect(context.signals.listenerCount('SIGTERM')).toBe(0);
});

test('one press that arrives three times, from the terminal, npm and the launcher, is one', async () => {
  const context = fakeContext();
  const work = interruptible(context, untilAborted);
  for (let time = 0; time < 3; time++) {
    context.signals.emit('SIGINT');
    context.advance(100);
  }
  expect(await work).toBe(true);
});

test('a second press ends the process at once', async () => {
  const context = fakeContext();
  const work = interruptible(context, () => pauseOr(1, new AbortController().signal));
  context.signals.emit('SIGINT');
  context.advance(2_000);
  expect(() => context.signals.emit('SIGINT')).toThrow(new Exited(130));
  await work;
});
