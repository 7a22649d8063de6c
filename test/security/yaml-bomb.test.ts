import { describe, expect, test } from 'vitest';
import { readTree } from '../../lib/adapters/skills/tree-file.ts';
import { parseConfig } from '../../lib/runtime/config.ts';
import { givenFiles, loadFrom, loadOne } from '../support/skill-folders.ts';

/** Nine levels of nine: 400 million strings out of 500 characters. */
const LAUGHS = ['a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]']
  .concat(
    Array.from({ length: 9 }, (_, level) => `a${level + 1}: &a${level + 1} [${Array.from({ length: 9 }, () => `*a${level}`).join(', ')}]`),
  )
  .join('\n');
const MERGES = [
  'b0: &b0 { x: 1 }',
  ...Array.from({ length: 60 }, (_, level) => `b${level + 1}: &b${level + 1} { <<: [*b${level}, *b${level}], y${level}: 1 }`),
].join('\n');
const BOMBS: readonly (readonly [string, string])[] = [
  ['a billion laughs', LAUGHS],
  ['merge keys that double', MERGES],
  ['an alias of itself', 'a: &a [*a]'],
  ['ten thousand levels', `a: ${'['.repeat(10_000)}${']'.repeat(10_000)}`],
  ['ten thousand levels, indented', Array.from({ length: 10_000 }, (_, level) => `${' '.repeat(level % 2_000)}k${level}:`).join('\n')],
  ['a hundred thousand keys', Array.from({ length: 100_000 }, (_, index) => `k${index}: 1`).join('\n')],
];

// What these would grow into fits into no memory, and takes longer than a test may: to come back at all is the point.
describe.each(BOMBS)('%s', (_what, bomb) => {
  test('in front matter is rejected with a line, and the skill beside it is loaded', () => {
    const root = givenFiles({
      'skills/bomb/SKILL.md': `---\nname: bomb\ndescription: d\n${bomb}\n---\nbody\n`,
      'skills/good/SKILL.md': '---\nname: good\ndescription: A good one.\n---\nbody\n',
    });
    const { catalogue } = loadFrom(root);
    const [bad, good] = catalogue.reports;
    expect(bad).toMatchObject({ file: 'skills/bomb/SKILL.md', status: 'rejected', problems: [{ reason: expect.stringMatching(/./) }] });
    expect(bad?.problems[0]?.line).toBeGreaterThan(0);
    expect(good?.status).toBe('accepted');
    expect(JSON.stringify(catalogue).length).toBeLessThan(10_000);
  });

  test('in a tree is refused', () => {
    expect(() => readTree(`root:\n  type: set\n  key: a\n  value: b\n${bomb}\n`, 'tree.yaml')).toThrow(/tree\.yaml/);
  });

  test('in the configuration is refused', () => {
    expect(() => parseConfig(bomb, 'handrail.config.yaml')).toThrow(/handrail\.config\.yaml/);
  });
});

test('a body of half a megabyte of fences and blank lines is only text', () => {
  const { report } = loadOne('long', `---\nname: long\ndescription: d\n---\n${'---\n\n'.repeat(80_000)}`);
  expect(report.status).not.toBe('rejected');
});
