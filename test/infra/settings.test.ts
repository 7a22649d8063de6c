import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { describe, expect, it } from 'vitest';
import { readSettings } from '../../cdk/config.ts';
import { SETTING_KEYS } from '../../cdk/settings-schema.ts';
import { createRegistry } from '../../lib/core/hands/registry.ts';
import { categories } from '../../lib/tools/index.ts';
import { ofType, synthesize } from '../support/stacks.ts';

const nowhere = mkdtempSync(join(tmpdir(), 'handrail-settings-'));
const settings = (context: Record<string, unknown>, root = nowhere, account?: string) =>
  readSettings(new App({ context }).node, root, { account });

describe('stages', () => {
  it('are prod unless said otherwise, which keeps everything', () => {
    expect(settings({})).toMatchObject({
      stage: 'prod',
      name: 'handrail',
      logDays: 90,
      logLevel: 'info',
      retain: true,
      logText: false,
      network: 'isolated',
    });
  });

  it('dev has names of its own and goes without a trace', () => {
    expect(settings({ stage: 'dev' })).toMatchObject({ name: 'handrail-dev', logDays: 7, logLevel: 'debug', retain: false });
    const { state } = synthesize({ stage: 'dev' });
    for (const [, { Properties, DeletionPolicy }] of ofType(state, 'AWS::DynamoDB::Table'))
      expect([Properties['DeletionProtectionEnabled'], DeletionPolicy]).toEqual([false, 'Delete']);
  });

  it('of one’s own start from prod; what is said on the command line comes before what is in cdk.json', () => {
    const stages = { staging: { logDays: 30, retain: false, reservedConcurrency: { 'tool-code': 5 } }, dev: { logLevel: 'warn' } };
    expect(settings({ stages, stage: 'staging' })).toMatchObject({
      name: 'handrail-staging',
      logDays: 30,
      logLevel: 'info',
      retain: false,
      reservedConcurrency: { 'tool-code': 5 },
    });
    expect(settings({ stages, stage: 'staging', logDays: '14', retain: 'true' })).toMatchObject({ logDays: 14, retain: true });
    expect(settings({ stages, stage: 'dev' })).toMatchObject({ logDays: 7, logLevel: 'warn' });
  });

  it('may have a configuration file each', () => {
    const root = mkdtempSync(join(tmpdir(), 'handrail-settings-'));
    writeFileSync(join(root, 'handrail.config.yaml'), 'auth: { mode: iam }\n');
    writeFileSync(join(root, 'handrail.config.staging.yaml'), 'auth: { mode: jwt, issuer: "https://issuer.example", audience: [us] }\n');
    expect(settings({}, root).config.auth.mode).toBe('iam');
    expect(settings({ stage: 'staging', stages: { staging: {} } }, root).config.auth.mode).toBe('jwt');
    expect(settings({ stage: 'staging', stages: { staging: {} }, config: 'handrail.config.yaml' }, root).config.auth.mode).toBe('iam');
  });
});

describe('an issuer of tokens', () => {
  const auth = 'auth: { mode: jwt, issuer: "http://login.example", audience: [us] }\n';

  it('is asked over https in AWS, and the message says where to change it', () => {
    const root = mkdtempSync(join(tmpdir(), 'handrail-settings-'));
    writeFileSync(join(root, 'handrail.config.yaml'), auth);
    expect(() => settings({}, root)).toThrow(/handrail\.config\.yaml: auth\.issuer: API Gateway needs an https:\/\/ address/);
    expect(settings({ target: 'emulator' }, root).config.auth.mode).toBe('jwt');
  });
});

describe('reserved concurrency', () => {
  it('is set aside for the functions that are named', () => {
    const { agent } = synthesize({ reservedConcurrency: 'tool-code=3, reason=50' });
    const reserved = ofType(agent, 'AWS::Lambda::Function').flatMap(([, { Properties }]) =>
      'ReservedConcurrentExecutions' in Properties ? [[Properties['FunctionName'], Properties['ReservedConcurrentExecutions']]] : [],
    );
    expect(Object.fromEntries(reserved)).toEqual({ 'handrail-tool-code': 3, 'handrail-reason': 50 });
  });
});

describe('mistakes stop synthesis with what, where and how to mend it', () => {
  it.each([
    ['a stage that there is not', { stage: 'pord' }, 'context stage: there is no stage "pord"; there are dev, prod. Did you mean prod?'],
    [
      'a setting that there is not',
      { logdays: '7' },
      'context logdays: there is no such setting (given with -c logdays=…); did you mean logDays?',
    ],
    [
      'a setting that there is not, in cdk.json',
      { stage: 'dev', stages: { dev: { retein: true } } },
      'stages.dev.retein in cdk.json); did you mean retain?',
    ],
    ['a value that is wrong in cdk.json', { stages: { prod: { logDays: 31 } } }, 'context logDays: is one of 1, 3, 5'],
    ['where that value is', { stages: { prod: { logDays: 31 } } }, '(given with stages.prod.logDays in cdk.json)'],
    ['an account without a region', { account: '123456789012' }, 'context region: is missing, since account is given'],
    ['a region without an account', { region: 'eu-west-1' }, 'context account: is missing, since region is given'],
    ['an account that is none', { account: '1234', region: 'eu-west-1' }, 'context account: is an account id, 12 digits'],
    ['a region that is none', { account: '123456789012', region: 'europe' }, 'context region: is a region such as eu-west-1'],
    ['a network that there is not', { network: 'public' }, 'context network: is isolated or none'],
    ['a mail address that is none', { alarmsMail: 'ops' }, 'context alarmsMail: is not an address'],
    ['reserved concurrency in another form', { reservedConcurrency: 'tool-code' }, 'is written like tool-code=20,reason=50'],
    ['reserved concurrency of a function that there is not', { reservedConcurrency: 'tool-cod=2' }, 'there is no function "tool-cod"'],
    ['stages that are none', { stages: 'prod' }, 'context stages: is an object of stages'],
  ])('%s', (_what, context, message) => {
    expect(() => synthesize(context as Record<string, string>)).toThrow(message);
  });

  it('credentials of another account than the stage belongs to', () => {
    const context = { stages: { prod: { account: '123456789012', region: 'eu-west-1' } } };
    expect(() => settings(context, nowhere, '999999999999')).toThrow(
      'stage prod belongs to account 123456789012, and the credentials are of 999999999999',
    );
    expect(settings(context, nowhere, '123456789012').env).toEqual({ account: '123456789012', region: 'eu-west-1' });
  });
});

it('a stage with account and region asks AWS nothing at synthesis', () => {
  const { app } = synthesize({ account: '123456789012', region: 'eu-west-1' });
  expect(app.synth().manifest.missing ?? []).toEqual([]);
});

it('without a network the tools of files are left out of the registry, and those of code stay', () => {
  const { config } = settings({ network: 'none' });
  const names = createRegistry(categories, { security: config.security })
    .getAll()
    .map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['execute_python', 'execute_shell', 'execute_javascript', 'memory_read']));
  expect(names.filter((name) => /file|directory/.test(name))).toEqual([]);
});

it('docs/deploy.md explains every setting', () => {
  const page = readFileSync(new URL('../../docs/deploy.md', import.meta.url), 'utf8');
  const explained = [...page.matchAll(/^\| `(\w+)` \|/gm)].map(([, key]) => key);
  expect(explained.sort()).toEqual(['stage', 'stages', ...SETTING_KEYS].sort());
});
