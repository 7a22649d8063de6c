import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { type Right, rightsIn } from '../support/rights.ts';
import { ofType, readable, synthesize } from '../support/stacks.ts';

/** Every wildcard in a resource, and why it can be no narrower. */
const WILDCARDS: Readonly<Record<string, string>> = {
  'states:…:execution:handrail-loop:*': 'executions are named after runs',
  'bedrock:*::foundation-model/anthropic.claude-sonnet-4-5-20250929-v1:0':
    'an inference profile picks the region; a condition names the profile',
  '<WorkspaceBucket.Arn>/*': 'the objects of the bucket are the files',
  'events:…:rule/DO-NOT-DELETE-S3-Files*': 'Amazon S3 Files names its rules itself; a condition allows none that it does not manage',
  'events:…:rule/*': 'Amazon S3 Files looks for its own rules; reading a rule shows no data',
};
/** Actions that know no resource, and the roles that may have them. */
const EVERYWHERE: readonly (readonly [action: RegExp, role: RegExp])[] = [
  [/^logs:(?:(?:Create|Get|Update|Delete|List)LogDeliver(?:y|ies)|PutResourcePolicy|Describe(?:ResourcePolicies|LogGroups))$/, /^Loop$/],
  [/^xray:GetSampling(?:Rules|Targets)$/, /^Loop$/],
  [/^xray:Put(?:TraceSegments|TelemetryRecords)$/, /./],
  [
    /^ec2:(?:Create|Delete|Describe)NetworkInterfaces?$|^ec2:DescribeSubnets$|^ec2:(?:Una|A)ssignPrivateIpAddresses$/,
    /^Tools(?:file|code)$/,
  ],
];
const keyStatementSchema = z.looseObject({
  Action: z.union([z.string(), z.array(z.string())]),
  Principal: z.looseObject({ Service: z.unknown() }).partial(),
  Condition: z.unknown().optional(),
});
const TARGETS = ['aws', 'emulator'] as const;
const line = ({ role, effect, action, resource, condition }: Right) =>
  `${role}  ${effect === 'Deny' ? 'NOT ' : ''}${action}  ${resource}${condition === '{}' ? '' : '  if'}`;
const linesOf = (rights: readonly Right[]) => [...new Set(rights.map(line))].sort();

it('every right in AWS is in the list', async () => {
  const { agent, state } = synthesize({ target: 'aws' });
  await expect(`${linesOf([...rightsIn(agent), ...rightsIn(state)]).join('\n')}\n`).toMatchFileSnapshot('rights.txt');
});

it('on an emulator nobody may do more than in AWS', () => {
  const [aws, emulator] = TARGETS.map((target) => {
    const { agent, state } = synthesize({ target });
    return linesOf([...rightsIn(agent), ...rightsIn(state)]);
  });
  expect(emulator?.filter((right) => !aws?.includes(right))).toEqual([]);
});

describe.each(TARGETS)('rights for target %s', (target) => {
  const { agent, state } = synthesize({ target });
  const rights = [...rightsIn(agent), ...rightsIn(state)];
  const allowed = rights.filter(({ effect }) => effect === 'Allow');

  it('name every action', () => {
    expect(rights.filter(({ action }) => /[*?]/.test(action))).toEqual([]);
  });

  it('have no wildcard in a resource without a reason', () => {
    const everywhere = ({ action, role }: Right) => EVERYWHERE.some(([actions, roles]) => actions.test(action) && roles.test(role));
    const open = allowed.filter((right) => /[*?]/.test(right.resource) && !(right.resource === '*' && everywhere(right)));
    expect(open.filter(({ resource }) => WILDCARDS[resource] === undefined)).toEqual([]);
  });

  it('refuse the code of isolated functions what Lambda needs for their network interfaces', () => {
    for (const role of new Set(allowed.filter(({ action }) => action.startsWith('ec2:')).map((right) => right.role))) {
      const of = (effect: Right['effect']) =>
        rights.filter((right) => right.role === role && right.effect === effect && right.action.startsWith('ec2:'));
      expect(of('Deny').map(({ action }) => action)).toEqual(of('Allow').map(({ action }) => action));
      for (const { condition } of of('Deny')) expect(condition).toContain('lambda:SourceFunctionArn');
    }
  });

  it('let a model be called in other regions through its profile only', () => {
    const elsewhere = allowed.filter(({ resource }) => resource.startsWith('bedrock:*'));
    expect(elsewhere).toHaveLength(1);
    expect(elsewhere[0]?.condition).toContain('bedrock:InferenceProfileArn');
  });

  it('let only the loop invoke tools, and the api the file function', () => {
    const invokers = allowed.filter(({ action, resource }) => action === 'lambda:InvokeFunction' && resource.includes('-tool-'));
    expect([...new Set(invokers.filter(({ role }) => role !== 'Loop').map(({ role, resource }) => `${role} ${resource}`))]).toEqual([
      'Api lambda:…:function:handrail-tool-file',
    ]);
  });

  it('let nobody read the history of an execution', () => {
    expect(allowed.filter(({ action }) => action === 'states:GetExecutionHistory')).toEqual([]);
  });

  it('give tools no table, but memory to the memory function', () => {
    const tables = allowed.filter(({ role, action }) => role.startsWith('Tools') && action.startsWith('dynamodb:'));
    expect(new Set(tables.map(({ role, resource }) => `${role} ${resource}`))).toEqual(
      new Set(['Toolsmemory <import FnGetAttTablesMemoryArn>']),
    );
  });

  it('are held by a role of each function alone, which only Lambda may assume', () => {
    const roles = ofType(agent, 'AWS::Lambda::Function').map(([, { Properties }]) => readable(Properties['Role']));
    expect(new Set(roles).size).toBe(roles.length);
    const managed = ofType(agent, 'AWS::IAM::Role').filter(([, { Properties }]) => 'ManagedPolicyArns' in Properties);
    expect(managed).toEqual([]);
  });

  it('leave the key to its account, and through it to IAM; services have it for what is ours only', () => {
    const [[, key]] = z
      .tuple([
        z.tuple([z.string(), z.object({ Properties: z.object({ KeyPolicy: z.object({ Statement: z.array(keyStatementSchema) }) }) })]),
      ])
      .parse(ofType(state, 'AWS::KMS::Key'));
    const [account, ...services] = key.Properties.KeyPolicy.Statement;
    expect(account).toEqual({
      Action: 'kms:*',
      Effect: 'Allow',
      Principal: { AWS: { 'Fn::Join': ['', ['arn:', { Ref: 'AWS::Partition' }, ':iam::', { Ref: 'AWS::AccountId' }, ':root']] } },
      Resource: '*',
    });
    expect(services.map(({ Principal }) => readable(Principal.Service)).sort()).toEqual([
      'cloudwatch.amazonaws.com',
      'delivery.logs.amazonaws.com',
      'events.amazonaws.com',
      'logs.<AWS::Region>.amazonaws.com',
    ]);
    for (const { Action, Condition } of services) {
      expect([Action].flat().filter((action) => action.includes('*'))).toEqual([]);
      expect(JSON.stringify(Condition)).toMatch(/aws:SourceAccount|kms:EncryptionContext/);
    }
  });
});

describe('rights for a configuration', () => {
  const rightsFor = (models: string) => rightsIn(synthesize({}, `models:\n${models}`).agent).filter(({ role }) => role === 'Reason');

  it('reach the configured foundation model in its region, and no other', () => {
    const rights = rightsFor('  default: { provider: bedrock, model: amazon.nova-lite-v1:0, region: eu-west-1 }\n');
    expect(rights.filter(({ action }) => action.startsWith('bedrock:')).map(({ resource }) => resource)).toEqual([
      'bedrock:eu-west-1::foundation-model/amazon.nova-lite-v1:0',
    ]);
  });

  it.each([
    ['inference-profile/eu.amazon.nova-lite-v1:0', 'amazon.nova-lite-v1:0'],
    ['application-inference-profile/a1b2c3d4e5f6', '*'],
  ])('name the models behind %s too, which is asked for by its ARN, through it alone', (profile, behind) => {
    const arn = `arn:aws:bedrock:eu-west-1:123456789012:${profile}`;
    const rights = rightsFor(`  default: { provider: bedrock, model: "${arn}" }\n`).filter(({ action }) => action.startsWith('bedrock:'));
    expect(rights.map(({ resource }) => resource)).toEqual([arn, `bedrock:*::foundation-model/${behind}`]);
    expect(rights[1]?.condition).toContain(arn);
  });

  it('read the configured secrets, and no other', () => {
    const rights = rightsFor('  default: { provider: anthropic, model: some-model, api_key_secret: prod/anthropic }\n');
    expect(rights.filter(({ action }) => action.startsWith('secretsmanager:')).map(({ resource }) => resource)).toEqual([
      'secretsmanager:…:secret:prod/anthropic-??????',
    ]);
    expect(rights.filter(({ action }) => action.startsWith('bedrock:'))).toEqual([]);
  });

  it('refuse a secret whose name would match others', () => {
    expect(() => rightsFor("  default: { provider: anthropic, model: some-model, api_key_secret: 'prod/*' }\n")).toThrow('prod/*');
  });
});
