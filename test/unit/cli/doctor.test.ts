import { afterEach, describe, expect, it } from 'vitest';
import { awsAccount } from '../../../lib/adapters/aws-account/aws-account.ts';
import { createCli } from '../../../lib/cli/cli.ts';
import { type DoctorInput, diagnose } from '../../../lib/cli/doctor/checks.ts';
import { type ConfigInput, configSchema } from '../../../lib/core/config.ts';
import { HandrailError } from '../../../lib/core/errors.ts';
import { type LoopbackServer, loopbackServer, type Received, type Reply } from '../../support/loopback-server.ts';
import { fakeContext } from './fake-context.ts';

let server: LoopbackServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

const json = (body: object, status = 200): Reply => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});
const refusal = (name: string, message = name): Reply => json({ __type: name, message }, 400);

interface Answers {
  readonly identity: Reply;
  readonly bootstrap: Reply;
  readonly model: Reply;
  readonly profile: Reply;
  readonly own: Reply;
  readonly secret: Reply;
  readonly lambda: Reply;
}

const IDENTITY =
  '<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult><Arn>arn:aws:iam::123456789012:user/ops</Arn><UserId>A</UserId><Account>123456789012</Account></GetCallerIdentityResult></GetCallerIdentityResponse>';
const EXPIRED: Reply = {
  status: 403,
  headers: { 'content-type': 'text/xml' },
  body: '<ErrorResponse><Error><Type>Sender</Type><Code>ExpiredToken</Code><Message>The security token is expired</Message></Error></ErrorResponse>',
};
const available = { status: 'AVAILABLE' };
const CLAUDE = 'anthropic.claude-sonnet-4-5-20250929-v1:0';
const MODEL = {
  modelId: 'm',
  agreementAvailability: available,
  authorizationStatus: 'AUTHORIZED',
  entitlementAvailability: 'AVAILABLE',
  regionAvailability: 'AVAILABLE',
};

const WELL: Answers = {
  identity: { status: 200, headers: { 'content-type': 'text/xml' }, body: IDENTITY },
  bootstrap: json({ Parameter: { Name: '/cdk-bootstrap/hnb659fds/version', Value: '21' } }),
  model: json(MODEL),
  profile: json({ status: 'ACTIVE', models: [{ modelArn: `arn:aws:bedrock:eu-west-1::foundation-model/${CLAUDE}` }] }),
  own: json({ status: 'InService' }),
  secret: json({ Name: 'handrail/anthropic' }),
  lambda: json({ AccountLimit: { ConcurrentExecutions: 1000, UnreservedConcurrentExecutions: 990 } }),
};

function answerOf({ headers, path }: Received, answers: Answers): Reply {
  const target = String(headers['x-amz-target'] ?? '');
  if (target === 'AmazonSSM.GetParameter') return answers.bootstrap;
  if (target === 'secretsmanager.DescribeSecret') return answers.secret;
  if (path.includes('/foundation-model-availability/')) return answers.model;
  if (path.includes('/inference-profiles/')) return answers.profile;
  if (/provisioned-model|model-customization|custom-model|imported-models/.test(path)) return answers.own;
  return path.includes('account-settings') ? answers.lambda : answers.identity;
}

async function doctorOf(over: Partial<Answers> = {}, config: ConfigInput = {}, input: Partial<DoctorInput> = {}) {
  const answers = { ...WELL, ...over };
  server = await loopbackServer((_count, request) => answerOf(request, answers));
  const credentials = async () => ({ accessKeyId: 'AKIATEST', secretAccessKey: 'x' });
  const account = awsAccount({ region: 'eu-west-1', endpoint: server.url, credentials });
  const checks = await diagnose({
    nodeVersion: '24.1.0',
    readConfig: () => ({ file: 'handrail.config.yaml', config: configSchema.parse(config), notes: [] }),
    account,
    ...input,
  });
  return { checks, of: (name: string) => checks.find((check) => check.name === name) };
}

describe('doctor', () => {
  it('says that an account has all that a deployment needs, and changes nothing', async () => {
    const { checks } = await doctorOf();
    expect(checks.map(({ name, status }) => [name, status])).toEqual([
      ['Node', 'ok'],
      ['configuration', 'ok'],
      ['credentials', 'ok'],
      ['region', 'ok'],
      ['bootstrap', 'ok'],
      ['model default', 'ok'],
      ['Lambda concurrency', 'ok'],
    ]);
    const asked = (server?.received ?? []).map(({ method, path, headers }) => `${method} ${headers['x-amz-target'] ?? path}`);
    expect(asked.every((request) => request.startsWith('GET ') || / (?:\/|AmazonSSM\.Get)/.test(request))).toBe(true);
    expect(asked.some((request) => request.includes('anthropic.claude-sonnet-4-5') && !request.includes('global.'))).toBe(true);
  });

  it.each([
    [
      'there is no bootstrap stack',
      { bootstrap: refusal('ParameterNotFound') },
      'bootstrap',
      'fail',
      'npx cdk bootstrap aws://123456789012/eu-west-1',
    ],
    ['the bootstrap stack is too old', { bootstrap: json({ Parameter: { Value: '4' } }) }, 'bootstrap', 'fail', 'npx cdk bootstrap'],
    ['looking is not allowed', { bootstrap: refusal('AccessDeniedException') }, 'bootstrap', 'warn', 'AccessDenied'],
    [
      'the model is not open',
      { model: json({ ...MODEL, entitlementAvailability: 'NOT_AVAILABLE' }) },
      'model default',
      'fail',
      'Bedrock console',
    ],
    [
      'the model is of another region',
      { model: json({ ...MODEL, regionAvailability: 'NOT_AVAILABLE' }) },
      'model default',
      'fail',
      'another model',
    ],
    [
      'the account is new',
      { lambda: json({ AccountLimit: { ConcurrentExecutions: 10, UnreservedConcurrentExecutions: 10 } }) },
      'Lambda concurrency',
      'warn',
      'Service Quotas',
    ],
    ['the keys have expired', { identity: EXPIRED }, 'credentials', 'fail', 'sign in again'],
  ] as const)('where %s: says so and what to do', async (_what, over, name, status, fix) => {
    const { of } = await doctorOf(over);
    expect(of(name)).toMatchObject({ status, fix: expect.stringContaining(fix) });
  });

  const bedrock = async (model: string, over: Partial<Answers> = {}) => {
    const { of } = await doctorOf(over, { models: { default: { provider: 'bedrock', model } } });
    return of('model default');
  };
  const arn = (rest: string) => `arn:aws:bedrock:eu-west-1:${rest}`;
  const gone: Reply = {
    status: 404,
    headers: { 'content-type': 'application/json', 'x-amzn-errortype': 'ResourceNotFoundException' },
    body: '{}',
  };
  const closed = json({ ...MODEL, entitlementAvailability: 'NOT_AVAILABLE' });

  it.each([
    ['a foundation model', CLAUDE, { model: closed }, 'the account has no access to it'],
    ['the ARN of one', arn(`:foundation-model/${CLAUDE}`), { model: closed }, 'the account has no access to it'],
    ['an inference profile that the region has not', `us.${CLAUDE}`, { profile: gone }, 'there is no such inference-profile'],
    ['the model behind a profile', `eu.${CLAUDE}`, { model: closed }, `${CLAUDE} behind it: the account has no access`],
    ['the model behind a profile of its own', arn('123456789012:application-inference-profile/x1'), { model: closed }, 'behind it'],
    [
      'provisioned throughput',
      arn('123456789012:provisioned-model/x1'),
      { own: json({ status: 'Creating' }) },
      'its throughput is Creating',
    ],
    [
      'a deployment of its own model',
      arn('123456789012:custom-model-deployment/x1'),
      { own: json({ status: 'Failed' }) },
      'its deployment is Failed',
    ],
    ['an imported model', arn('123456789012:imported-model/x1'), { own: gone }, 'there is no such imported-model'],
  ])('asks about %s', async (_what, model, over, why) => {
    expect(await bedrock(model, over)).toMatchObject({
      status: 'fail',
      detail: expect.stringContaining(why),
      fix: expect.stringContaining('Bedrock console'),
    });
    await server?.close();
    const well = model.includes('custom-model-deployment') ? { own: json({ status: 'Active' }) } : {};
    expect(await bedrock(model, well)).toEqual({ name: 'model default', status: 'ok', detail: model });
  });

  it('says of a kind of ARN that nobody can be asked about that it is not checked', async () => {
    expect(await bedrock(arn('123456789012:default-prompt-router/x'))).toMatchObject({
      status: 'warn',
      detail: expect.stringContaining('default-prompt-router is not checked'),
    });
  });

  it('asks for the secret of a key, never for its value', async () => {
    const models = { default: { provider: 'anthropic', model: 'claude-sonnet-4-5', api_key_secret: 'handrail/anthropic' } } as const;
    const missing = await doctorOf({ secret: refusal('ResourceNotFoundException') }, { models });
    expect(missing.of('model default')).toMatchObject({
      status: 'fail',
      fix: expect.stringContaining('create-secret --name handrail/anthropic'),
    });
    expect((server?.received ?? []).map(({ headers }) => headers['x-amz-target'])).not.toContain('secretsmanager.GetSecretValue');
    await server?.close();
    expect((await doctorOf({}, { models })).of('model default')).toMatchObject({ status: 'ok' });
  });

  it('asks of a broken configuration where it is broken, and goes on with the rest', async () => {
    const readConfig = () => {
      throw new HandrailError('BAD_REQUEST', 'handrail.config.yaml:3: agents: unknown key');
    };
    const { of } = await doctorOf({}, {}, { readConfig });
    expect(of('configuration')).toMatchObject({ status: 'fail', detail: 'handrail.config.yaml:3: agents: unknown key' });
    expect(of('bootstrap')).toMatchObject({ status: 'ok' });
  });

  it('says what the configuration leaves out, and that does not stop a deployment', async () => {
    const { of } = await doctorOf(
      {},
      {},
      { readConfig: () => ({ file: 'x.yaml', config: configSchema.parse({}), notes: ['a tool is left out: x'] }) },
    );
    expect(of('configuration')).toMatchObject({
      status: 'warn',
      detail: 'a tool is left out: x',
      fix: expect.stringContaining('correct'),
    });
  });

  it('works without credentials: says what is missing, and asks nothing that needs them', async () => {
    const none = Object.assign(new Error('Could not load credentials from any providers'), { name: 'CredentialsProviderError' });
    const account = { ...awsAccount({ region: 'eu-west-1' }), identity: () => Promise.reject(none) };
    const { checks, of } = await doctorOf({}, {}, { account });
    expect(of('credentials')).toMatchObject({ status: 'fail', detail: 'there are none', fix: expect.stringContaining('AWS_PROFILE') });
    expect(checks.slice(4).every(({ status }) => status === 'skipped')).toBe(true);
    expect(server?.received).toEqual([]);
  });

  it('refuses a qualifier that CDK cannot have', async () => {
    const context = fakeContext();
    await createCli(context).parseAsync(['node', 'handrail', 'doctor', '--qualifier', 'Not/One']);
    expect(context.code()).toBe(2);
    expect(context.err()).toContain('--qualifier');
  });
});
