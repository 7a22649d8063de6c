import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { App } from 'aws-cdk-lib';
import { describe, expect, it } from 'vitest';
import { mistakeIn, synthesize } from '../../cdk/synthesize.ts';
import { HandrailError } from '../../lib/core/errors.ts';
import { givenFiles } from '../support/skill-folders.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const MINUTES = 120_000;

const CHECKER = "export const createChecker = () => ({ name: 'same', check: async () => ['ALLOW', ''], reset() {} });\n";
const BUILT_IN = CHECKER.replace('same', 'budget');
const guard = (settings: string): string => `constraints: { guard: { ${settings} } }\n`;
const scripted = (script: string): string => `models: { default: { provider: scripted, script: ${script} } }\n`;
const handler = (code: string): Record<string, string> => ({
  'skills/twice/SKILL.md': '---\nname: twice\ndescription: Twice.\nparameters: {}\n---\n',
  'skills/twice/handler.js': code,
});

interface Mistake {
  readonly what: string;
  readonly config?: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly context?: Readonly<Record<string, unknown>>;
  readonly says: RegExp;
}

const MISTAKES: readonly Mistake[] = [
  { what: 'a value of another type', config: 'target: moon\n', says: /^c\.yaml:1: target: / },
  {
    what: 'a tool that nobody has',
    config: guard('tool_policy: { wirte_file: deny }'),
    says: /^c\.yaml:1: constraints\.guard\.tool_policy\.wirte_file: .*did you mean "write_file"\?$/,
  },
  {
    what: 'a model that nobody has',
    config: 'agents: { default: { model: nothere } }\n',
    says: /^c\.yaml:1: agents\.default\.model: there is no model "nothere"/,
  },
  {
    what: 'two checkers of one name',
    config: guard('checkers: [a.ts, b.ts]'),
    files: { 'a.ts': CHECKER, 'b.ts': CHECKER },
    says: /^constraints\.guard\.checkers: .*same/,
  },
  {
    what: 'a checker named like one of ours',
    config: guard('checkers: [a.ts]'),
    files: { 'a.ts': BUILT_IN },
    says: /^constraints\.guard\.checkers: .*budget/,
  },
  { what: 'a checker that is not there', config: guard('checkers: [a.ts]'), says: /^constraints\.guard\.checkers\.0: cannot load a\.ts/ },
  {
    what: 'a script that is not there',
    config: scripted('nowhere.yaml'),
    says: /^c\.yaml:1: models\.default\.script: there is no file .*nowhere\.yaml$/,
  },
  {
    what: 'a script that is a directory',
    config: scripted('.'),
    says: /^c\.yaml:1: models\.default\.script: .* cannot be read \(it is a directory\)$/,
  },
  {
    what: 'a script that is no YAML',
    config: scripted('s.yaml'),
    files: { 's.yaml': 'a: [' },
    says: /^c\.yaml:1: models\.default\.script: s\.yaml: /,
  },
  {
    what: 'a script of nothing',
    config: scripted('s.yaml'),
    files: { 's.yaml': 'scenarios: []\n' },
    says: /^c\.yaml:1: models\.default\.script: s\.yaml: /,
  },
  { what: 'a configuration that is a directory', context: { config: '/' }, says: /^\/ cannot be read \(it is a directory\)$/ },
  {
    what: 'a configuration below a file',
    context: { config: `${fileURLToPath(import.meta.url)}/c.yaml` },
    says: /cannot be read \(a part of the path is no directory\)$/,
  },
  {
    what: 'a configuration that is not there',
    context: { config: '/nowhere/c.yaml' },
    says: /^there is no configuration file/,
  },
  { what: 'a stage that is a number', context: { stage: 5 }, says: /^context stage: is the name of a stage/ },
  { what: 'stages that are a list', context: { stages: [1] }, says: /^context stages: / },
  { what: 'a setting of another type', context: { region: 7, account: {} }, says: /^context account: / },
  {
    what: 'reserved concurrency of nothing',
    context: { reservedConcurrency: { nobody: 1 } },
    says: /^context reservedConcurrency: there is no function "nobody"/,
  },
  {
    what: 'skills in a file',
    config: 'skills: { directories: [c.yaml] }\n',
    says: /c\.yaml is no directory of skills that can be read \(ENOTDIR\)$/,
  },
  {
    what: 'a skill that is rejected',
    files: { 'skills/bad/SKILL.md': '---\nname: bad\n---\n' },
    says: /^skills\/bad\/SKILL\.md:2: description: there is none/,
  },
  { what: 'a handler that does not parse', files: handler('export default () => {'), says: /handler\.js:1: / },
  {
    what: 'a handler that imports nothing',
    files: handler("import 'not-installed';\nexport default () => 1;\n"),
    says: /handler\.js:1: Could not resolve "not-installed"/,
  },
];

describe('a mistake of the operator is told with what and where, and without a stack', () => {
  it.each(MISTAKES.map((mistake) => [mistake.what, mistake] as const))(
    '%s',
    async (_what, { config = '', files = {}, context = {}, says }) => {
      const directory = givenFiles({ ...files, 'c.yaml': config });
      const app = new App({ context: { config: join(directory, 'c.yaml'), ...context }, outdir: join(directory, 'out') });
      const error = await synthesize(app, root).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      expect(mistakeIn(error)).toMatch(says);
    },
    MINUTES,
  );

  it('and a fault of ours keeps its stack', () => {
    expect(mistakeIn(new HandrailError('INTERNAL', 'broken'))).toBeUndefined();
    expect(mistakeIn(new TypeError('broken'))).toBeUndefined();
  });
});
