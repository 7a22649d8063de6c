import { afterEach, expect, test } from 'vitest';
import { givenFiles, loadFrom, loadOne } from '../support/skill-folders.ts';

const PAYLOAD = 'globalThis.PWNED = true';
afterEach(() => {
  Reflect.deleteProperty(globalThis, 'PWNED');
});

// gray-matter evaluates the first of these as they come; each spelling is a key of its own in its table of engines.
test.each([
  'js',
  'javascript',
  'JavaScript',
  'JS',
  ' js',
  'coffee',
  'coffeescript',
  'cson',
  'toml',
  'json',
  'yaml',
  'node',
  '__proto__',
  'constructor',
])('front matter that says it is %j is not run, and the skill is rejected with that reason', (engine) => {
  const { report, reasons } = loadOne(
    'bad',
    `---${engine}\n(() => { ${PAYLOAD}; return { name: "bad", description: "d" } })()\n---\nbody\n`,
  );
  expect(report.status).toBe('rejected');
  expect(reasons[0]).toMatch(/^1: /);
  expect('PWNED' in globalThis).toBe(false);
});

test.each([
  ['a tag of js-yaml', `!!js/function "function () { ${PAYLOAD} }"`],
  ['a tag with an immediate call', `!!js/eval "${PAYLOAD}"`],
  ['a tag of PyYAML', `!!python/object/apply:os.system ["${PAYLOAD}"]`],
  ['an unknown tag', `!run "${PAYLOAD}"`],
])('%s is no value', (_what, value) => {
  const { report } = loadOne('bad', `---\nname: bad\ndescription: d\nmetadata:\n  x: ${value}\n---\nbody\n`);
  expect(report.status).toBe('rejected');
  expect('PWNED' in globalThis).toBe(false);
});

test('the code of a handler skill is not run by loading it, and good skills beside bad ones are loaded', () => {
  const root = givenFiles({
    'skills/bad/SKILL.md': `---js\n${PAYLOAD}\n---\n`,
    'skills/good/SKILL.md': '---\nname: good\ndescription: A good one.\nparameters:\n  x: { type: string }\n---\nbody\n',
    'skills/good/handler.js': `${PAYLOAD};\nexport default () => 1;\n`,
  });
  const { catalogue } = loadFrom(root);
  expect(catalogue.reports.map(({ file, status }) => [file, status])).toEqual([
    ['skills/bad/SKILL.md', 'rejected'],
    ['skills/good/SKILL.md', 'accepted'],
  ]);
  expect('PWNED' in globalThis).toBe(false);
});
