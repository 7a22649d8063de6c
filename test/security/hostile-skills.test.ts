import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { validatorOf } from '../../lib/core/hands/schema.ts';
import { givenFiles, loadFrom, loadOne } from '../support/skill-folders.ts';

const head = (name: string, more: string): string => `---\nname: ${name}\ndescription: A skill.\n${more}\n---\nBody.\n`;
const HANDLER = { 'handler.js': 'export default () => 1;\n' };

describe('front matter that runs code', () => {
  it.each(['js', 'javascript', 'JavaScript', ' js', 'coffee', 'cson', 'toml', 'json', 'yaml', 'js\r'])(
    'in the language %j is never even parsed',
    (language) => {
      const { report } = loadOne('evil', `---${language}\nmodule.exports = { name: 'evil', description: globalThis.PWNED = 'yes' }\n---\n`);
      expect(report.status).toBe('rejected');
      expect(globalThis).not.toHaveProperty('PWNED');
    },
  );

  it.each([
    '!!js/function "function(){ globalThis.PWNED = 1 }"',
    '!!js/regexp /a/',
    '!<tag:yaml.org,2002:js/undefined> ""',
    '!!python/object:os.system x',
  ])('by the tag in %s is refused with its line', (value) => {
    const { reasons } = loadOne('evil', `---\nname: evil\ndescription: ${value}\n---\n`);
    expect(reasons).toEqual([expect.stringMatching(/^3: .*tag/i)]);
    expect(globalThis).not.toHaveProperty('PWNED');
  });
});

describe('YAML bombs', () => {
  const laughs = [
    'a: &a [x, x, x, x, x, x, x, x, x]',
    ...'bcdefghi'.split('').map((key, index) => `${key}: &${key} [${Array(9).fill(`*${'abcdefgh'[index]}`).join(', ')}]`),
  ];
  it.each([
    ['a billion laughs', laughs.join('\n')],
    ['brackets in brackets', `m: ${'['.repeat(15_000)}`],
    ['braces in braces', `m: ${'{a: '.repeat(3_900)}`],
    ['dashes', `m: ${'- '.repeat(8_000)}`],
    ['thousands of keys', `m: {${Array.from({ length: 3_000 }, (_, index) => `k${index}`).join(',')}}`],
    ['thousands of lines', '\n'.repeat(16_000)],
    ['megabytes', `m: ${'x'.repeat(3_000_000)}`],
  ])('of %s are refused', (_what, yaml) => {
    const { report } = loadOne('bomb', head('bomb', yaml));
    expect(report.status).toBe('rejected');
  });
});

describe('prototype pollution', () => {
  it.each([
    '__proto__:\n  polluted: yes',
    'constructor:\n  prototype:\n    polluted: yes',
    'metadata:\n  "__proto__": { polluted: yes }',
    '"\\u005f_proto__": { polluted: yes }',
  ])('by %j is refused', (yaml) => {
    expect(loadOne('evil', head('evil', yaml)).report.status).toBe('rejected');
    expect({}).not.toHaveProperty('polluted');
  });

  it('by the name of a skill finds nothing', () => {
    for (const name of ['__proto__', 'constructor', 'toString'])
      expect(loadOne(name, head(name, '')).catalogue.skills.filter((skill) => skill.name === '__proto__')).toEqual([]);
  });
});

describe('ReDoS in the schema of a skill', () => {
  it('matches in linear time, whatever the pattern', () => {
    const { catalogue } = loadOne('slow', head('slow', "parameters:\n  text: { type: string, pattern: '^(a+)+$' }"), HANDLER);
    const [skill] = catalogue.skills;
    if (skill?.kind !== 'handler') throw new Error('it was not accepted');
    expect(validatorOf(skill.tool)({ text: `${'a'.repeat(50_000)}!` })).toHaveLength(1);
    expect(validatorOf(skill.tool)({ text: 'aaaa' })).toHaveLength(0);
  });

  it.each([
    ['(?=a)b', 'pattern'],
    ['((a{1,100}){1,100}){1,100}', 'pattern'],
  ])('refuses what cannot be matched so: %s', (pattern) => {
    expect(loadOne('slow', head('slow', `parameters:\n  text: { type: string, pattern: '${pattern}' }`), HANDLER).report.status).toBe(
      'rejected',
    );
  });

  it.each([
    ['leaves the schema', '{ $ref: "https://example.com/s.json" }'],
    ['leads to itself', '{ allOf: [{ $ref: "#/properties/a" }] }'],
    ['leads to itself by a detour', '{ $ref: "#/properties/b" }'],
    ['is dynamic', '{ $dynamicRef: "#a" }'],
  ])('refuses a reference that %s', (_what, schema) => {
    const yaml = `parameters:\n  type: object\n  properties:\n    a: ${schema}\n    b: { anyOf: [{ $ref: "#/properties/a" }] }`;
    expect(loadOne('round', head('round', yaml), HANDLER).report.status).toBe('rejected');
  });

  it('takes a reference that goes deeper into the value', () => {
    const yaml =
      'parameters:\n  type: object\n  properties:\n    tree: { $ref: "#/$defs/node" }\n  $defs:\n    node: { type: object, properties: { children: { type: array, items: { $ref: "#/$defs/node" } } } }';
    expect(loadOne('deep', head('deep', yaml), HANDLER).reasons).toEqual([]);
  });
});

describe('paths out of the folder', () => {
  it('are not read through links: of the file, of a folder, of the skill itself', () => {
    const root = givenFiles({
      'secret.md': head('linked', 'license: CANARY'),
      'skills/files/SKILL.md': head('files', ''),
      'away/SKILL.md': head('away', 'license: CANARY'),
      'skills/linked/README.md': '',
    });
    symlinkSync(join(root, 'secret.md'), join(root, 'skills/linked/SKILL.md'));
    symlinkSync(join(root, 'secret.md'), join(root, 'skills/files/notes.md'));
    symlinkSync(root, join(root, 'skills/files/up'));
    symlinkSync(join(root, 'away'), join(root, 'skills/away'));
    const { catalogue } = loadFrom(root);
    expect(JSON.stringify(catalogue)).not.toContain('CANARY');
    expect(catalogue.skills.map(({ name, files }) => [name, files])).toEqual([['files', []]]);
    expect(catalogue.reports.map(({ file, status, warnings }) => [file, status, warnings.length])).toEqual([
      ['skills/away/SKILL.md', 'rejected', 0],
      ['skills/files/SKILL.md', 'accepted_with_warnings', 2],
      ['skills/linked/SKILL.md', 'rejected', 0],
    ]);
  });

  it.each(['../x.js', '/etc/passwd', '~/x.js', 'a/../../x.js', 'file:///x.js', 'https://example.com/x.js', 'x\\..\\y.js'])(
    'named as a handler are refused: %s',
    (path) => {
      expect(loadOne('evil', head('evil', `handler: '${path}'`), HANDLER).reasons).toEqual([expect.stringMatching(/^4: handler: /)]);
    },
  );

  it('of huge files end at what is given out, not in memory', () => {
    const root = givenFiles({ 'skills/huge/SKILL.md': head('huge', '') });
    writeFileSync(join(root, 'skills/huge/data.bin'), new Uint8Array(20_000_000));
    for (let index = 0; index < 300; index++) writeFileSync(join(root, `skills/huge/f${index}.txt`), 'x'.repeat(5_000));
    const { catalogue } = loadFrom(root);
    const [skill] = catalogue.skills;
    expect(skill?.files.find(({ path }) => path === 'data.bin')).toEqual({ path: 'data.bin', bytes: 20_000_000 });
    expect(JSON.stringify(catalogue).length).toBeLessThan(300_000);
    expect(catalogue.reports[0]?.warnings.map(({ reason }) => reason)).toEqual(['only the first 200 files are taken']);
  });
});
