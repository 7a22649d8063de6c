import { expect, test } from 'vitest';
import { matchesGlob } from '../../../../lib/tools/file/glob.ts';

test.each([
  ['*.md', 'a/b/c.md', true],
  ['*.md', 'c.mdx', false],
  ['a/*.md', 'a/c.md', true],
  ['a/*.md', 'a/b/c.md', false],
  ['a/**', 'a/b/c.md', true],
  ['a/**/c.md', 'a/c.md', true],
  ['a/**/c.md', 'a/x/y/c.md', true],
  ['**/b/*', 'b/c', true],
  ['**/b/*', 'a/b/c/d', false],
  ['**', 'any/thing', true],
  ['?.txt', 'é.txt', true],
  ['?.txt', '😀.txt', true],
  ['?.txt', 'ab.txt', false],
  ['./a/b', 'a/b', true],
  ['a.b', 'axb', false],
  ['[ab]{c,d}', '[ab]{c,d}', true],
  ['*', '.hidden', true],
])('%s against %s: %s', (glob, path, expected) => {
  expect(matchesGlob(glob, path)).toBe(expected);
});

test('a glob made to explode a backtracking matcher comes to an end', () => {
  expect(matchesGlob(`${'a*'.repeat(90)}c`, `${'a'.repeat(200)}b`)).toBe(false);
  expect(matchesGlob(`${'**/a/'.repeat(40)}c`, `${'a/'.repeat(60)}b`)).toBe(false);
});
