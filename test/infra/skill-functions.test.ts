import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { bundleFunctions } from '../../cdk/bundle.ts';
import { functionSpecs } from '../../cdk/deploy.ts';
import { deployedSkills } from '../../cdk/skills.ts';
import { type ConfigInput, configSchema } from '../../lib/core/config.ts';
import { skillCatalogueSchema } from '../../lib/core/skills/skill.ts';
import { SKILLS_FILE, toolFunctionName } from '../../lib/manifest.ts';
import { rightsIn } from '../support/rights.ts';
import { givenFiles, loadFrom } from '../support/skill-folders.ts';
import { ofType, type Resource, readable, synthesize } from '../support/stacks.ts';

const skillText = (name: string, more = ''): string =>
  `---\nname: ${name}\ndescription: A skill.\nparameters: { n: { type: integer, required: true } }\n${more}---\n`;
const NETWORK = 'permissions:\n  network: { allowed_domains: [api.example.com] }\n';
const FILES = 'permissions:\n  filesystem: { read: ["data/**"] }\n';
const LONG = 'a-name-that-is-much-longer-than-what-lambda-has-room-for';
const SKILLS = {
  'skills/pure/SKILL.md': skillText('pure', 'timeout: 120000\n'),
  'skills/pure/handler.ts': "import { twice } from './twice.ts';\nexport default (args: { n: number }) => ({ twice: twice(args.n) });\n",
  'skills/pure/twice.ts': 'export const twice = (n: number): number => 2 * n;\n',
  'skills/online/SKILL.md': skillText('online', NETWORK),
  'skills/online/handler.js': 'export default () => 1;\n',
  'skills/files/SKILL.md': skillText('files', FILES),
  'skills/files/handler.js': 'export default () => 1;\n',
  [`skills/${LONG}/SKILL.md`]: skillText(LONG),
  [`skills/${LONG}/handler.js`]: 'export default () => 1;\n',
  'skills/words/SKILL.md': '---\nname: words\ndescription: A prompt skill.\n---\nUse few.\n',
};
const directory = givenFiles(SKILLS);
const loaded = loadFrom(directory);

describe('the functions of handler skills', () => {
  const { agent } = synthesize({ target: 'aws' }, undefined, loaded.catalogue);
  const functionOf = (name: string): Resource['Properties'] => {
    const found = ofType(agent, 'AWS::Lambda::Function').find(([, { Properties }]) => Properties['FunctionName'] === name);
    if (!found) throw new Error(`no function ${name}`);
    return found[1].Properties;
  };

  it('are one each, with the timeout of the skill; prompt skills have none', () => {
    const names = ofType(agent, 'AWS::Lambda::Function').flatMap(
      ([, { Properties }]) => String(Properties['FunctionName']).match(/^handrail-skill-.*/) ?? [],
    );
    expect(names.toSorted()).toEqual(
      ['files', LONG.replaceAll('-', '_'), 'online', 'pure'].map((tool) => toolFunctionName('handrail', 'skill', tool)).toSorted(),
    );
    for (const name of names) expect(name.length).toBeLessThanOrEqual(64);
    expect(functionOf('handrail-skill-pure')['Timeout']).toBe(130);
    expect(functionOf('handrail-skill-files')['Timeout']).toBe(20);
  });

  it('have a way out only with permission for the network, and files only with permission for files', () => {
    const placed = (name: string) => ['VpcConfig' in functionOf(name), 'FileSystemConfigs' in functionOf(name)];
    expect(placed('handrail-skill-online')).toEqual([false, false]);
    expect(placed('handrail-skill-files')).toEqual([true, true]);
    expect(placed('handrail-skill-pure')).toEqual([true, false]);
  });

  it('may write their log and traces, have interfaces and mount where they are placed so, and nothing else', () => {
    const actionsOf = (role: string): string[] =>
      [...new Set(rightsIn(agent).flatMap((right) => (right.role === role && right.effect === 'Allow' ? [right.action] : [])))].sort();
    const always = ['logs:CreateLogStream', 'logs:PutLogEvents', 'xray:PutTelemetryRecords', 'xray:PutTraceSegments'];
    expect(actionsOf('Skillsonline')).toEqual(always);
    const beyond = (role: string) => actionsOf(role).filter((action) => !always.includes(action) && !action.startsWith('ec2:'));
    expect(beyond('Skillspure')).toEqual([]);
    expect(beyond('Skillsfiles').every((action) => action.startsWith('s3files:'))).toBe(true);
    expect(beyond('Skillsfiles')).not.toEqual([]);
  });

  it('are invoked by the state machine, which outlives the longest of them, and by nobody else', () => {
    const invokers = rightsIn(agent).filter(({ action, resource }) => action === 'lambda:InvokeFunction' && resource.includes('skill-'));
    expect(new Set(invokers.map(({ role }) => role))).toEqual(new Set(['Loop']));
    expect(invokers).toHaveLength(4);
    const definition = readable(ofType(agent, 'AWS::StepFunctions::StateMachine')[0]?.[1].Properties['DefinitionString']);
    // 120 s of the skill, 10 s more for its function, 10 s more for the Task.
    expect(definition).toContain('"TimeoutSeconds":140');
  });
});

describe('the bundle of a handler skill', () => {
  let bundles: Awaited<ReturnType<typeof bundleFunctions>>;
  beforeAll(async () => {
    bundles = await bundleFunctions({
      root: fileURLToPath(new URL('../..', import.meta.url)),
      outdir: mkdtempSync(join(tmpdir(), 'handrail-skill-bundles-')),
      functions: functionSpecs({ skills: loaded.catalogue }).filter(({ name }) => name === 'reason' || name.startsWith('skill-')),
      config: configSchema.parse({}),
      configDirectory: directory,
      skills: loaded,
    });
  });

  it('holds its own code and no other skill’s, and answers a call by itself', async () => {
    const bundle = bundles.get('skill-pure');
    expect(bundle?.inputs.filter((path) => path.includes('skills/pure/')).length).toBe(2);
    expect(bundle?.inputs.filter((path) => /skills\/(?:online|files)\//.test(path))).toEqual([]);
    expect(bundle?.bytes).toBeLessThan(900_000);
    Object.assign(process.env, {
      HANDRAIL_FUNCTION_PREFIX: 'handrail',
      HANDRAIL_LOG_LEVEL: 'error',
      HANDRAIL_LOG_TEXT: 'off',
      HANDRAIL_TARGET: 'aws',
    });
    const { handler } = z
      .looseObject({ handler: z.custom<(event: unknown) => Promise<unknown>>((value) => typeof value === 'function') })
      .parse({ ...(await import(pathToFileURL(join(bundle?.directory ?? '', 'index.mjs')).href)) });
    const call = {
      callId: 'c1-0',
      tool: 'pure',
      category: 'skill',
      functionName: 'handrail-skill-pure',
      arguments: { n: 21 },
      timeoutMs: 1_000,
      idempotent: false,
      maxRetries: 0,
      resultBudget: 1_000,
      tenant: 't',
      sessionId: 's',
      namespace: 'main',
      runId: `r-${'0'.repeat(26)}`,
    };
    expect(await handler(call)).toMatchObject({ callId: 'c1-0', result: { success: true, data: '{\n  "twice": 42\n}' } });
  });

  it('leaves the catalogue beside reason, read back as it was', () => {
    const text = readFileSync(join(bundles.get('reason')?.directory ?? '', SKILLS_FILE), 'utf8');
    expect(skillCatalogueSchema.parse(JSON.parse(text))).toEqual(JSON.parse(JSON.stringify(loaded.catalogue)));
  });
});

describe('a deployment', () => {
  const deploy = (files: Readonly<Record<string, string>>, config: ConfigInput = {}, target: 'aws' | 'emulator' = 'aws') =>
    deployedSkills({ config: configSchema.parse(config), configDirectory: givenFiles(files), place: (path) => path.join('.'), target });
  const bad = { 'skills/bad/SKILL.md': '---\nname: bad\n---\n', 'skills/good/SKILL.md': '---\nname: good\ndescription: Good.\n---\n' };

  it('is stopped by a rejected skill, with file, line and reason, unless it is told to leave it out', () => {
    expect(() => deploy(bad)).toThrow(/^skills\/bad\/SKILL\.md:2: description: there is none/);
    expect(deploy(bad, { skills: { on_reject: 'skip' } }).catalogue.skills.map(({ name }) => name)).toEqual(['good']);
  });

  it('is stopped when an agent names a skill that is not there', () => {
    const agents = { default: { skills: ['good', 'bad'] } };
    expect(() => deploy(bad, { agents, skills: { on_reject: 'skip' } })).toThrow('agents.default.skills.1: the skill "bad" was rejected');
    expect(() => deploy({}, { agents: { default: { skills: ['x'] } } })).toThrow('there is no skill "x"');
  });

  it('to AWS is stopped by a trusted skill with files and network, which no network there can serve', () => {
    const both = {
      'skills/both/SKILL.md': skillText('both', `${NETWORK}  filesystem: { read: ["a"] }\n`),
      'skills/both/handler.js': 'export default () => 1;\n',
    };
    const config = { skills: { trusted: ['both'] } };
    expect(() => deploy(both, config)).toThrow(/both\/SKILL\.md: asks for files and for the network/);
    expect(deploy(both, config, 'emulator').catalogue.skills).toHaveLength(1);
  });
});
