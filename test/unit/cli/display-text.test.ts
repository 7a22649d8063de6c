import { expect, test } from 'vitest';
import { columns, counted, duration, money, oneLine, visible } from '../../../lib/cli/display-text.ts';

test('what a terminal would obey is written out instead', () => {
  expect(visible('\u001b[2Jgone\u0007')).toBe('\\u{1b}[2Jgone\\u{7}');
  expect(visible('safe\u202Eexe.txt')).toBe('safe\\u{202e}exe.txt');
  expect(visible('overwritten\rnow')).toBe('overwritten\\u{d}now');
  expect(visible('\u009b31m')).toBe('\\u{9b}31m');
});

test('text that people write stays as it is', () => {
  expect(visible('a\tb\r\nc\nd — 日本語 👨‍👩‍👧 می‌خواهم')).toBe('a\tb\nc\nd — 日本語 👨‍👩‍👧 می‌خواهم');
});

test('a long text becomes one line of the length asked for, without half a character', () => {
  expect(oneLine('one\n  two\tthree', 80)).toBe('one ⏎ two three');
  expect(oneLine('abcdef', 4)).toBe('abc…');
  expect(oneLine(`ab${'😀'.repeat(9)}`, 4).isWellFormed()).toBe(true);
  expect(oneLine('x'.repeat(10_000), 10)).toHaveLength(10);
  expect(oneLine(`${' '.repeat(1000)}end`, 10)).toMatch(/…$/);
});

test('times, sums and counts read as people say them', () => {
  expect([340, 3_210, 240_000, 7_200_000, 259_200_000].map(duration)).toEqual(['340 ms', '3.2 s', '4 min', '2 h', '3 d']);
  expect([0, 0.0042, 12.5].map(money)).toEqual(['', '$0.0042', '$12.50']);
  expect([0, 1, 2].map((count) => counted(count, 'run'))).toEqual(['0 runs', '1 run', '2 runs']);
});

test('columns line up and lines have no trailing blanks', () => {
  expect(
    columns([
      ['a', 'bb', ''],
      ['aaa', 'b', 'c'],
    ]),
  ).toEqual(['a    bb', 'aaa  b   c']);
});
