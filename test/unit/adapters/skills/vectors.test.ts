import { describe, expect, it } from 'vitest';
import { checkSkillVectors } from '../../../support/skill-vectors.ts';

/** Where another outcome was chosen than the one that the row calls a good one. Each is a decision, and none of them is firm. */
const OTHERWISE: Readonly<Record<string, string>> = {
  'name-under': "the seed's own example is web_scraper: read, with a warning",
  'claude-helper': 'the standard reserves no words: read, with a warning',
  't-max': 'no tool may take 900 s: read, with a warning that 120 s hold',
  'tree-extra': 'a tree names its one file; others may lie beside it',
  'col/two/same-name': 'a name belongs to the first; the second is rejected by name, never hidden',
};

describe('recorded skills', () => {
  const checked = checkSkillVectors();

  it.each(checked.map((one) => [one.row.dir, one] as const))('%s keeps every invariant', (_dir, { broken }) => {
    expect(broken).toEqual([]);
  });

  it.each(checked.filter(({ row }) => row.firm).map((one) => [one.row.dir, one.row.expected, one] as const))(
    '%s: %s, as any sound loader must',
    (_dir, expected, { outcome, report }) => {
      expect([outcome, report?.problems]).toEqual([expected, report?.problems]);
    },
  );

  it('the others come out as expected, but for those that were decided otherwise', () => {
    const different = checked.filter(({ row, outcome }) => !row.firm && outcome !== row.expected).map(({ row }) => row.dir);
    expect(different).toEqual(Object.keys(OTHERWISE).filter((dir) => different.includes(dir)));
    expect(different.length).toBe(Object.keys(OTHERWISE).length);
  });
});
