import { expect, test } from 'vitest';
import { createApp } from '../../../lib/api/app.ts';
import { bearerAuth } from '../../../lib/api/auth/bearer.ts';
import { iamAuth, jwtAuth } from '../../../lib/api/auth/gateway.ts';
import type { AuthStrategy } from '../../../lib/api/auth/strategy.ts';
import { lambdaHandler } from '../../../lib/api/lambda.ts';
import { everyPermission } from '../../../lib/api/principal.ts';
import { fakeRun, fakeServices } from './fake-services.ts';

const ROLE = {
  accountId: '123456789012',
  userArn: 'arn:aws:sts::123456789012:assumed-role/Agent/me',
  userId: 'AROAEXAMPLEID:me',
  callerId: 'AROAEXAMPLEID:me',
  accessKey: 'ASIA',
  cognitoIdentity: null,
  principalOrgId: 'o-1',
};

interface EventParts {
  method?: string;
  path?: string;
  query?: string;
  headers?: Record<string, string>;
  body?: string;
  base64?: boolean;
  authorizer?: unknown;
  stage?: string;
}

/** An event as API Gateway's HTTP API sends it, payload format 2.0. */
const eventOf = ({
  method = 'GET',
  path = '/runs',
  query = '',
  headers = {},
  body,
  base64 = false,
  authorizer,
  stage = '$default',
}: EventParts) => ({
  version: '2.0',
  routeKey: '$default',
  rawPath: path,
  rawQueryString: query,
  headers: { host: 'abc.execute-api.eu-central-1.amazonaws.com', ...headers },
  requestContext: {
    accountId: '123456789012',
    apiId: 'abc',
    domainName: 'abc.execute-api.eu-central-1.amazonaws.com',
    stage,
    http: { method, path, protocol: 'HTTP/1.1', sourceIp: '1.2.3.4', userAgent: 'x' },
    ...(authorizer === undefined ? {} : { authorizer }),
  },
  ...(body === undefined ? {} : { body }),
  isBase64Encoded: base64,
});

const call = async (auth: AuthStrategy, parts: EventParts, services = fakeServices()) => {
  const result = await lambdaHandler(createApp(services, { auth }))(eventOf(parts));
  return { ...result, json: result.body.startsWith('{') ? JSON.parse(result.body) : undefined, services };
};

test('IAM: the tenant is account and role, the same for every session of the role; the principal is the ARN', async () => {
  const started = await call(iamAuth(), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: Buffer.from('{"input":"grüße"}').toString('base64'),
    base64: true,
    authorizer: { iam: ROLE },
  });

  expect(started.statusCode).toBe(202);
  expect(started.services.started).toEqual([{ tenant: 'aws-123456789012-AROAEXAMPLEID', principal: ROLE.userArn, input: 'grüße' }]);
});

test('IAM: a configured tenant is that of every role and user; each keeps its own name', async () => {
  const services = fakeServices();
  for (const userId of ['AROADEVELOPER:ann', 'AROAAPPROVER:bob', 'AIDAUSER', '123456789012:federated'])
    await call(
      iamAuth({ tenant: 'ours' }),
      {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"input":"x"}',
        authorizer: { iam: { ...ROLE, userId, userArn: `arn:of:${userId}` } },
      },
      services,
    );
  expect(services.started.map(({ tenant, principal }) => [tenant, principal])).toEqual([
    ['ours', 'arn:of:AROADEVELOPER:ann'],
    ['ours', 'arn:of:AROAAPPROVER:bob'],
    ['ours', 'arn:of:AIDAUSER'],
    ['ours', 'arn:of:123456789012:federated'],
  ]);
  expect((await call(iamAuth({ tenant: 'ours' }), {})).statusCode).toBe(401);
});

test.each([
  ['no authorizer', undefined],
  ['an empty one', {}],
  ['a JWT in place of IAM', { jwt: { claims: { sub: 'x' }, scopes: null } }],
  ['no account', { iam: { ...ROLE, accountId: undefined } }],
  ['null', { iam: null }],
])('IAM: %s is answered 401', async (_what, authorizer) => {
  expect(await call(iamAuth(), { authorizer })).toMatchObject({ statusCode: 401, json: { code: 'UNAUTHORIZED' } });
});

test('IAM: headers that look like the gateway change nothing', async () => {
  const headers = {
    'x-amzn-request-context': JSON.stringify({ authorizer: { iam: ROLE } }),
    authorization: 'Bearer x',
    requestcontext: 'x',
  };
  expect((await call(iamAuth(), { headers })).statusCode).toBe(401);
});

const jwt = (claims: Record<string, unknown>) => ({ jwt: { claims, scopes: null } });

test('JWT: the configured claim is the tenant, scopes are the permissions', async () => {
  const services = fakeServices();
  services.store.runs = [fakeRun(1, { tenant: 'acme' })];
  const authorizer = jwt({ sub: 'ann', org: 'acme', scope: 'openid handrail/read handrail/runs' });

  expect((await call(jwtAuth({ tenantClaim: 'org' }), { authorizer }, services)).json.runs).toHaveLength(1);
  expect(await call(jwtAuth({ tenantClaim: 'org' }), { method: 'POST', authorizer }, services)).toMatchObject({
    statusCode: 403,
    json: { permission: 'run' },
  });
});

test.each([
  ['a list as the gateway writes it', '[handrail/read handrail/approve]', 200],
  ['scopes of another API', 'other/read read handrail/read2', 403],
  ['none', undefined, 403],
])('JWT: %s', async (_what, scope, status) => {
  expect((await call(jwtAuth({ tenantClaim: 'org' }), { authorizer: jwt({ sub: 'ann', org: 'acme', scope }) })).statusCode).toBe(status);
});

test.each(['', '*', 'a#b', 'T#x', 'x'.repeat(65), 5, ['acme'], undefined])('JWT: the tenant %j is refused', async (org) => {
  const answer = await call(jwtAuth({ tenantClaim: 'org' }), { authorizer: jwt({ sub: 'ann', org, scope: 'handrail/read' }) });
  expect(answer).toMatchObject({ statusCode: 403, json: { code: 'FORBIDDEN', detail: expect.stringContaining('claim org') } });
});

test('JWT: a claim is never read from the prototype', async () => {
  expect((await call(jwtAuth({ tenantClaim: 'constructor' }), { authorizer: jwt({ sub: 'ann' }) })).statusCode).toBe(403);
});

const secret = 'an-emulator-secret-0123';
const emulator = () =>
  bearerAuth([{ secret, principal: { tenant: 'emulator', principal: 'emulator:owner', permissions: everyPermission } }]);
const withSecret = { authorization: `Bearer ${secret}` };

test('emulator: the shared secret takes the place of the authorizer', async () => {
  expect((await call(emulator(), { headers: withSecret })).statusCode).toBe(200);
  expect((await call(emulator(), {})).statusCode).toBe(401);
  expect(() => bearerAuth([{ secret: 'short', principal: { tenant: 'x', principal: 'x', permissions: everyPermission } }])).toThrow(
    '16 characters',
  );
});

test('the page asks for a bearer token where no cookie can be had, and the cookie route lets nobody in', async () => {
  expect((await call(emulator(), { path: '/' })).statusCode).toBe(401);
  expect(
    await call(emulator(), {
      path: '/console/session',
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ secret }),
    }),
  ).toMatchObject({ statusCode: 401 });
});

test('a named stage before the path is taken off', async () => {
  expect((await call(emulator(), { path: '/prod/health', stage: 'prod' })).statusCode).toBe(200);
  expect((await call(emulator(), { path: '/production', stage: 'prod' })).statusCode).toBe(404);
});

test.each([
  ['TRACE', '/runs', 400],
  ['PATCH', '/runs', 405],
  ['GET', '//evil.example/x', 404],
  ['GET', '/%', 404],
])('%s %s is answered %i, never thrown', async (method, path, status) => {
  const answer = await call(emulator(), { method, path, headers: withSecret });
  expect([answer.statusCode, answer.headers['content-type']]).toEqual([status, 'application/problem+json']);
});

test('queries, HEAD and headers that no Headers object can hold', async () => {
  expect((await call(emulator(), { query: 'limit=1&limit=2', headers: withSecret })).json.field).toBe('limit');
  expect(await call(emulator(), { method: 'HEAD', path: '/health' })).toMatchObject({ statusCode: 200, body: '' });
  expect((await call(emulator(), { headers: { ...withSecret, 'x-name': 'Zoë 😀', 'x-lines': 'a\r\nb' } })).statusCode).toBe(200);
});

test('a file goes through as bytes, both ways', async () => {
  const services = fakeServices();
  const secret = 'a-secret-of-some-length';
  const auth = bearerAuth([{ secret, principal: { tenant: 'alpha', principal: 'alpha:owner', permissions: everyPermission } }]);
  const every = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/octet-stream' };
  const path = '/sessions/s-1/files/a.bin';
  const handler = lambdaHandler(createApp(services, { auth }));
  expect(await handler(eventOf({ method: 'PUT', path, headers, body: every.toString('base64'), base64: true }))).toMatchObject({
    statusCode: 200,
  });
  const answer = await handler(eventOf({ path, headers }));
  expect([answer.statusCode, answer.isBase64Encoded]).toEqual([200, true]);
  expect(Buffer.from(answer.body, 'base64').equals(every)).toBe(true);
});
