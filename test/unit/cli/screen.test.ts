import { expect, test } from 'vitest';
import { createScreen } from '../../../lib/cli/screen.ts';
import { fakeContext } from './fake-context.ts';

test('off a terminal there are plain lines and nothing that moves', () => {
  const context = fakeContext();
  const screen = createScreen(context.stderr, {});
  screen.status(() => 'at work');
  screen.line(screen.style.red('one'));
  screen.status(undefined);
  expect(context.err()).toBe('one\n');
});

test('on a terminal the moving line makes room for each line and goes in the end', () => {
  const context = fakeContext({ terminal: true });
  const screen = createScreen(context.stderr, {});
  screen.status(() => 'at work');
  screen.line('one');
  screen.status(undefined);
  const shown = context.err().split('\r\u001b[2K');
  expect(shown).toEqual(['', expect.stringContaining('at work'), 'one\n', expect.stringContaining('at work'), '']);
});

test('NO_COLOR takes the colours, TERM=dumb the movement too', () => {
  const coloured = createScreen(fakeContext({ terminal: true }).stderr, {});
  expect(coloured.style.red('x')).not.toBe('x');
  const plain = createScreen(fakeContext({ terminal: true }).stderr, { NO_COLOR: '1' });
  expect(plain.style.red('x')).toBe('x');
  expect(plain.terminal).toBe(true);
  const dumb = createScreen(fakeContext({ terminal: true }).stderr, { TERM: 'dumb' });
  expect(dumb.terminal).toBe(false);
  expect(dumb.style.red('x')).toBe('x');
});

test('the moving line never wraps', () => {
  const context = fakeContext({ terminal: true });
  const screen = createScreen(context.stderr, {});
  screen.status(() => 'x'.repeat(500));
  screen.status(undefined);
  for (const line of context.err().split('\r\u001b[2K')) expect(line.length).toBeLessThan(100);
});
