import { Aws, Stack } from 'aws-cdk-lib';
import { Effect, PolicyStatement, type PolicyStatementProps, type Role } from 'aws-cdk-lib/aws-iam';
import * as z from 'zod';
import { tableAccess } from '../../lib/adapters/stores/dynamodb/table-use.ts';
import type { ModelConfig } from '../../lib/core/config.ts';
import { HandrailError } from '../../lib/core/errors.ts';
import type { Engine } from '../../lib/core/ports/engine.ts';
import type { FunctionSpec } from '../../lib/manifest.ts';
import { acknowledge } from './acknowledge.ts';
import { type Deployment, executionsArn, functionArn, loopArn } from './deployment.ts';

/** A right; if its resource has a wildcard, why it can be no narrower. Actions never have wildcards. */
export interface Right {
  readonly statement: PolicyStatement;
  readonly wildcard?: string;
}

/**
 * What a service that encrypts each thing for itself asks of KMS: DynamoDB in the name of its caller, CloudWatch Logs in its
 * own. AWS documents these with `*` at the end; spelled out here.
 */
export const SERVICE_KEY_ACTIONS = [
  'Decrypt',
  'DescribeKey',
  'Encrypt',
  'GenerateDataKey',
  'GenerateDataKeyWithoutPlaintext',
  'ReEncryptFrom',
  'ReEncryptTo',
];

/** All that a function may do, from its entry in the manifest. */
export function rightsOf(stack: Stack, deployment: Deployment, spec: FunctionSpec): Right[] {
  return [
    ...tableRights(stack, deployment, spec),
    ...engineRights(stack, deployment, spec),
    ...invokeRights(stack, deployment, spec),
    ...(spec.model ? modelRights(stack, deployment) : []),
    ...(spec.search ? searchRights(stack, deployment) : []),
    ...(spec.notices ? noticeRights(stack, deployment) : []),
    ...(writesEvents(spec) ? eventRights(stack, deployment) : []),
  ];
}

function tableRights(stack: Stack, deployment: Deployment, spec: FunctionSpec): Right[] {
  const accesses = tableAccess(spec.stores);
  if (accesses.length === 0) return [];
  const rights = accesses.flatMap(({ table, actions, indexes }) => {
    const { tableArn } = deployment.tables[table];
    const onTable = { sid: `${pascal(table)}Table`, actions: actions.map((action) => `dynamodb:${action}`), resources: [tableArn] };
    const resources = indexes.map((index) => `${tableArn}/index/${index}`);
    return [
      ...(actions.length === 0 ? [] : [allow(onTable)]),
      ...(indexes.length === 0 ? [] : [allow({ sid: `${pascal(table)}Indexes`, actions: ['dynamodb:Query'], resources })]),
    ];
  });
  const viaDynamodb = { StringEquals: { 'kms:ViaService': `dynamodb.${stack.region}.${Aws.URL_SUFFIX}` } };
  const actions = SERVICE_KEY_ACTIONS.map((action) => `kms:${action}`);
  return [...rights, allow({ sid: 'TableKey', actions, resources: [deployment.key.keyArn], conditions: viaDynamodb })];
}

const ENGINE_ACTIONS: Readonly<Record<keyof Engine, string>> = {
  start: 'states:StartExecution',
  status: 'states:DescribeExecution',
  sendTaskSuccess: 'states:SendTaskSuccess',
};

function engineRights(stack: Stack, deployment: Deployment, spec: FunctionSpec): Right[] {
  const loop = loopArn(stack, deployment);
  const onLoop = spec.engine.filter((method) => method !== 'status').map((method) => ENGINE_ACTIONS[method]);
  const rights: Right[] = [];
  if (onLoop.length > 0) rights.push(allow({ sid: 'Loop', actions: onLoop, resources: [loop] }));
  if (spec.engine.includes('status')) {
    const resource = executionsArn(stack, deployment);
    const wildcard = 'Executions are named after runs, which do not exist at deployment; the ARN names our state machine';
    rights.push(allow({ sid: 'Executions', actions: [ENGINE_ACTIONS.status], resources: [resource] }, wildcard));
  }
  if (spec.engine.length > 0) {
    const ofLoop = { StringEquals: { 'kms:EncryptionContext:aws:states:stateMachineArn': loop } };
    rights.push(
      allow({ sid: 'LoopKey', actions: ['kms:Decrypt', 'kms:GenerateDataKey'], resources: [deployment.key.keyArn], conditions: ofLoop }),
    );
  }
  return rights;
}

/** What Lambda does with a function's role to give it an address. */
const INTERFACE_ACTIONS = [
  'AssignPrivateIpAddresses',
  'CreateNetworkInterface',
  'DeleteNetworkInterface',
  'DescribeNetworkInterfaces',
  'DescribeSubnets',
  'UnassignPrivateIpAddresses',
].map((action) => `ec2:${action}`);

/** For a function inside a network. The rights are for Lambda; the function's own code is refused them. */
export function networkRights(functionArn: string): Right[] {
  return [
    allow({ sid: 'Interfaces', actions: INTERFACE_ACTIONS, resources: ['*'] }),
    {
      statement: new PolicyStatement({
        sid: 'NotTheCodeItself',
        effect: Effect.DENY,
        actions: INTERFACE_ACTIONS,
        resources: ['*'],
        conditions: { ArnEquals: { 'lambda:SourceFunctionArn': functionArn } },
      }),
    },
  ];
}

function invokeRights(stack: Stack, deployment: Deployment, spec: FunctionSpec): Right[] {
  const there = spec.invokes.map((category) => `tool-${category}`).filter((name) => deployment.bundles.has(name));
  if (there.length === 0) return [];
  const resources = there.map((name) => functionArn(stack, deployment, name));
  return [allow({ sid: 'Tools', actions: ['lambda:InvokeFunction'], resources })];
}

/** The configured models and secrets, and no other. */
function modelRights(stack: Stack, deployment: Deployment): Right[] {
  const models = Object.values(deployment.settings.config.models);
  const secrets = [
    ...new Set(models.flatMap((model) => ('api_key_secret' in model && model.api_key_secret !== undefined ? [model.api_key_secret] : []))),
  ];
  const rights = models.flatMap((model) => (model.provider === 'bedrock' ? bedrockRights(stack, model) : []));
  if (secrets.length === 0) return rights;
  const resources = secrets.map((secret) => secretArn(stack, secret));
  return [...rights, allow({ sid: 'ModelKeys', actions: ['secretsmanager:GetSecretValue'], resources })];
}

/** The secret of the configured search service. */
function searchRights(stack: Stack, { settings }: Deployment): Right[] {
  const { search } = settings.config;
  if (search === undefined || !('api_key_secret' in search) || search.api_key_secret === undefined) return [];
  return [allow({ sid: 'SearchKey', actions: ['secretsmanager:GetSecretValue'], resources: [secretArn(stack, search.api_key_secret)] })];
}

/** The configured topic, bus and secrets of the webhook. A topic or bus under a key of its own also needs a right there. */
function noticeRights(stack: Stack, { settings }: Deployment): Right[] {
  const { sns_topic_arn, event_bus, webhook } = settings.config.notices;
  const secrets = [webhook?.url_secret, webhook?.signing_secret].flatMap((secret) =>
    secret === undefined ? [] : [secretArn(stack, secret)],
  );
  const rights: Right[] = [];
  if (sns_topic_arn !== undefined) rights.push(allow({ sid: 'NoticeTopic', actions: ['sns:Publish'], resources: [sns_topic_arn] }));
  if (event_bus !== undefined)
    rights.push(allow({ sid: 'NoticeBus', actions: ['events:PutEvents'], resources: [busArn(stack, event_bus)] }));
  if (secrets.length > 0)
    rights.push(allow({ sid: 'WebhookSecrets', actions: ['secretsmanager:GetSecretValue'], resources: [...new Set(secrets)] }));
  return rights;
}

/** Whoever writes events of runs also sends them to the bus, where one is configured. */
const writesEvents = ({ stores: { runs = [] } }: FunctionSpec): boolean => runs.some((method) => method === 'commit' || method === 'write');

function eventRights(stack: Stack, deployment: Deployment): Right[] {
  const { bus } = deployment.settings.config.events;
  return bus === undefined ? [] : [allow({ sid: 'EventBus', actions: ['events:PutEvents'], resources: [busArn(stack, bus)] })];
}

function busArn(stack: Stack, bus: string): string {
  return bus.startsWith('arn:') ? bus : `arn:${Aws.PARTITION}:events:${stack.region}:${stack.account}:event-bus/${bus}`;
}

/** `<geography>.<provider>.<model>`: an inference profile, which calls the model in the regions of its geography. */
const PROFILE = /^(?:global|us|us-gov|eu|apac|au|ca|jp|sa)\.(?=[a-z0-9-]+\.)/;

const PROFILE_ARN = /^arn:[^:]+:bedrock:[^:]*:[^:]*:((?:application-)?inference-profile)\/(.+)$/;

function bedrockRights(stack: Stack, model: Extract<ModelConfig, { provider: 'bedrock' }>): Right[] {
  const actions = ['bedrock:InvokeModel'];
  const region = model.region ?? stack.region;
  const foundation = (where: string, name: string) => `arn:${Aws.PARTITION}:bedrock:${where}::foundation-model/${name}`;
  const through = (profile: string, name: string) => [
    allow({ actions, resources: [profile] }),
    allow(
      { actions, resources: [foundation('*', name)], conditions: { StringEquals: { 'bedrock:InferenceProfileArn': profile } } },
      'An inference profile picks the region of each call; the condition allows it through this profile only',
    ),
  ];
  const [, kind, name = ''] = PROFILE_ARN.exec(model.model) ?? [];
  // Which model is behind an application's own profile does not stand in its ARN.
  if (kind !== undefined) return through(model.model, kind === 'inference-profile' ? name.replace(PROFILE, '') : '*');
  if (model.model.startsWith('arn:')) return [allow({ actions, resources: [model.model] })];
  if (!PROFILE.test(model.model)) return [allow({ actions, resources: [foundation(region, model.model)] })];
  return through(
    `arn:${Aws.PARTITION}:bedrock:${region}:${stack.account}:inference-profile/${model.model}`,
    model.model.replace(PROFILE, ''),
  );
}

/** Secrets Manager ends the ARN of a secret with six characters that only it knows: hence the question marks. */
function secretArn(stack: Stack, secret: string): string {
  if (secret.startsWith('arn:')) return secret;
  if (/[*?]/.test(secret)) throw new HandrailError('BAD_REQUEST', `configuration: ${secret} is not the name of one secret`);
  return `arn:${Aws.PARTITION}:secretsmanager:${stack.region}:${stack.account}:secret:${secret}-??????`;
}

export function allow(props: PolicyStatementProps, wildcard?: string): Right {
  return { statement: new PolicyStatement(props), ...(wildcard === undefined ? {} : { wildcard }) };
}

/** Gives a role its rights, with the reason for every wildcard beside them. */
export function grant(role: Role, rights: readonly Right[]): void {
  for (const { statement, wildcard } of rights) {
    role.addToPolicy(statement);
    if (wildcard === undefined) continue;
    for (const resource of statement.resources)
      acknowledge(role, { [`AwsSolutions-IAM5[Resource::${shown(Stack.of(role).resolve(resource))}]`]: wildcard });
  }
}

const referenceSchema = z.union([
  z.string(),
  z.object({ Ref: z.string() }).transform(({ Ref }) => `<${Ref}>`),
  z.object({ 'Fn::GetAtt': z.tuple([z.string(), z.string()]) }).transform(({ 'Fn::GetAtt': path }) => `<${path.join('.')}>`),
  z.object({ 'Fn::ImportValue': z.string() }).transform(({ 'Fn::ImportValue': name }) => name),
]);

/** An ARN as cdk-nag prints it: references in angle brackets. */
function shown(resolved: unknown): string {
  const joined = z
    .object({ 'Fn::Join': z.tuple([z.literal(''), z.array(referenceSchema)]) })
    .transform(({ 'Fn::Join': [, parts] }) => parts.join(''));
  return z.union([referenceSchema, joined]).parse(resolved);
}

const pascal = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
