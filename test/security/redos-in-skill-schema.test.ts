import { expect, test } from 'vitest';
import { readArguments } from '../../lib/core/hands/arguments.ts';
import { loadOne } from '../support/skill-folders.ts';

const skillWith = (parameters: string) =>
  loadOne('matcher', `---\nname: matcher\ndescription: Matches.\nparameters:\n${parameters}\n---\nbody\n`, {
    'handler.js': 'export default () => 1;\n',
  });

/** Each takes an engine that goes back and forth longer than the universe has had. */
const LONG = 50_000;
const EVIL: readonly (readonly [string, string])[] = [
  ['^(a+)+$', `${'a'.repeat(LONG)}!`],
  ['^(a|aa)+$', `${'a'.repeat(LONG)}!`],
  ['^(.*a){12}$', 'a'.repeat(LONG)],
  ['^([a-zA-Z]+)*$', `${'aB'.repeat(LONG / 2)}1`],
  ['^(\\d+)*[^\\d]$', '1'.repeat(LONG)],
];

test.each(EVIL)('the pattern %s of a skill is held against a long text in linear time', (pattern, text) => {
  const { catalogue, reasons } = skillWith(`  text: { type: string, pattern: '${pattern}' }`);
  expect(reasons).toEqual([]);
  const [skill] = catalogue.skills;
  if (skill?.kind !== 'handler') throw new Error('no handler skill');
  expect(readArguments(JSON.stringify({ text }), skill.tool)).toHaveProperty('ok');
  expect(readArguments({ text: '!!' }, skill.tool)).toMatchObject({ ok: false, details: [{ path: 'text' }] });
});

test.each([
  ['looks ahead', '(?=a)b'],
  ['looks behind', '(?<=a)b'],
  ['refers back', '(a)\\1'],
  ['repeats repetitions without bound', '((((a{1,100}){1,100}){1,100}){1,100}){1,100}'],
])('a pattern that %s cannot be held in linear time: the skill is rejected with that reason', (_what, pattern) => {
  const { report, reasons } = skillWith(`  text: { type: string, pattern: '${pattern}' }`);
  expect(report.status).toBe('rejected');
  expect(reasons.join()).toContain('error parsing regexp');
});

test('keys are matched by patternProperties in linear time too', () => {
  const { catalogue } = skillWith(
    "  type: object\n  properties: { a: { type: object, patternProperties: { '^(x+)+$': { type: integer } }, additionalProperties: false } }",
  );
  const [skill] = catalogue.skills;
  if (skill?.kind !== 'handler') throw new Error('no handler skill');
  expect(readArguments({ a: { [`${'x'.repeat(LONG)}!`]: 1 } }, skill.tool)).toMatchObject({ ok: false });
  expect(readArguments({ a: { xx: 1 } }, skill.tool)).toMatchObject({ ok: true });
});
