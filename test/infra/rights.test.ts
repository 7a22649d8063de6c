import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { ofType, readable, type SynthesizedStacks, synthesize } from '../support/stacks.ts';

const listSchema = z.union([z.string(), z.array(z.string())]).transform((value) => [value].flat());
const statementSchema = z.object({
  Effect: z.literal('Allow'),
  Action: listSchema,
  Resource: z.unknown().transform((value) => (Array.isArray(value) ? value : [value]).map(readable)),
  Condition: z.unknown().optional(),
});
const policySchema = z.object({ PolicyDocument: z.object({ Statement: z.array(statementSchema) }), Roles: z.array(z.unknown()).length(1) });
interface Right {
  readonly role: string;
  readonly action: string;
  readonly resource: string;
  readonly condition: string;
}

function rightsIn(template: SynthesizedStacks['agent']): Right[] {
  return ofType(template, 'AWS::IAM::Policy').flatMap(([, { Properties }]) => {
    const policy = policySchema.parse(Properties);
    const role = readable(policy.Roles[0]).replace(/^<|(?:Handler)?Role[0-9A-F]{8}>$/g, '');
    return policy.PolicyDocument.Statement.flatMap((statement) =>
      statement.Action.flatMap((action) =>
        statement.Resource.map((resource) => ({
          role,
          action,
          resource: short(resource),
          condition: JSON.stringify(statement.Condition ?? {}),
        })),
      ),
    );
  });
}

const short = (resource: string) =>
  resource
    .replace(/^arn:<AWS::Partition>:/, '')
    .replaceAll('<AWS::Region>:<AWS::AccountId>', '…')
    .replace(/<[^>]*>/g, (reference) => reference.replace(/[0-9A-F]{8}/g, ''));

/** Every wildcard in a resource, and why it can be no narrower. */
const WILDCARDS: Readonly<Record<string, string>> = {
  'states:…:execution:handrail-loop:*': 'executions are named after runs',
  'bedrock:*::foundation-model/anthropic.claude-sonnet-4-5-20250929-v1:0':
    'an inference profile picks the region; a condition names the profile',
};
/** Actions that know no resource. */
const EVERYWHERE =
  /^(?:logs:(?:Create|Get|Update|Delete|List)LogDeliver(?:y|ies)|logs:PutResourcePolicy|logs:Describe(?:ResourcePolicies|LogGroups)|xray:(?:PutTraceSegments|PutTelemetryRecords|GetSampling(?:Rules|Targets)))$/;

describe.each(['aws', 'emulator'])('rights for target %s', (target) => {
  const { agent, state } = synthesize({ target });
  const rights = rightsIn(agent);

  it('are the ones in the list', async () => {
    const lines = rights.map(
      ({ role, action, resource, condition }) => `${role}  ${action}  ${resource}${condition === '{}' ? '' : '  if'}`,
    );
    await expect(`${[...new Set(lines)].sort().join('\n')}\n`).toMatchFileSnapshot('rights.txt');
  });

  it('name every action', () => {
    expect(rights.filter(({ action }) => /[*?]/.test(action))).toEqual([]);
  });

  it('have no wildcard in a resource without a reason', () => {
    const open = rights.filter(({ resource, action }) => /[*?]/.test(resource) && !(resource === '*' && EVERYWHERE.test(action)));
    expect(open.filter(({ resource }) => WILDCARDS[resource] === undefined)).toEqual([]);
  });

  it('let a model be called in other regions through its profile only', () => {
    const elsewhere = rights.filter(({ resource }) => resource.startsWith('bedrock:*'));
    expect(elsewhere).toHaveLength(1);
    expect(elsewhere[0]?.condition).toContain('bedrock:InferenceProfileArn');
  });

  it('let only the loop invoke tools, and the api the file function', () => {
    const invokers = rights.filter(({ action, resource }) => action === 'lambda:InvokeFunction' && resource.includes('-tool-'));
    expect([...new Set(invokers.filter(({ role }) => role !== 'Loop').map(({ role, resource }) => `${role} ${resource}`))]).toEqual([
      'Api lambda:…:function:handrail-tool-file',
    ]);
  });

  it('let nobody read the history of an execution', () => {
    expect(rights.filter(({ action }) => action === 'states:GetExecutionHistory')).toEqual([]);
  });

  it('give tools no table, but memory to the memory function', () => {
    const tables = rights.filter(({ role, action }) => role.startsWith('Tools') && action.startsWith('dynamodb:'));
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

  it('leave the key to its account, and through it to IAM', () => {
    const [[, key]] = z
      .tuple([z.tuple([z.string(), z.object({ Properties: z.object({ KeyPolicy: z.object({ Statement: z.array(z.unknown()) }) }) })])])
      .parse(ofType(state, 'AWS::KMS::Key'));
    expect(key.Properties.KeyPolicy.Statement).toEqual([
      {
        Action: 'kms:*',
        Effect: 'Allow',
        Principal: { AWS: { 'Fn::Join': ['', ['arn:', { Ref: 'AWS::Partition' }, ':iam::', { Ref: 'AWS::AccountId' }, ':root']] } },
        Resource: '*',
      },
    ]);
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
