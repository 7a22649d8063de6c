import { beforeEach, expect, test } from 'vitest';
import { createApp } from '../../lib/api/app.ts';
import { iamAuth } from '../../lib/api/auth/gateway.ts';
import { lambdaHandler } from '../../lib/api/lambda.ts';
import { fakeRun, fakeServices, fakeSuspension } from '../unit/api/fake-services.ts';

/**
 * Under IAM the gateway compares a path with the caller's policies, and then we find the route by it. A role that may
 * `PUT/sessions/<any>/files/<any>` must not reach `PUT /policy` by a path that the gateway reads in one way and we in
 * another. HTTP APIs hand the path over decoded, so `%2e%2e%2f` comes as `../`.
 */
let services: ReturnType<typeof fakeServices>;
const run = fakeRun(1, { tenant: 'ours' });
beforeEach(() => {
  services = fakeServices();
  services.store.runs = [run];
  services.store.suspensions = [fakeSuspension(run, ['write_file'])];
});

const ROLE = { accountId: '123456789012', userArn: 'arn:aws:sts::123456789012:assumed-role/dev/ann', userId: 'AROADEV:ann' };
const call = (method: string, rawPath: string, body: unknown) =>
  lambdaHandler(createApp(services, { auth: iamAuth({ tenant: 'ours' }) }))({
    rawPath,
    headers: { 'content-type': 'application/json', 'if-match': '"0"' },
    body: JSON.stringify(body),
    requestContext: { domainName: 'x.execute-api.eu-west-1.amazonaws.com', http: { method }, authorizer: { iam: ROLE } },
  });

const ups = ['../../../', '%2e%2e/%2E%2e/..%2f/', '.%2e/../../', '..\\..\\..\\', '.\t./.\n./.\r./', './../../../', '..//../../../'];

test.each(ups)('no file path leads to the policy: %j', async (up) => {
  const { statusCode } = await call('PUT', `/sessions/s-1/files/${up}policy`, { guard: {} });
  expect([400, 404]).toContain(statusCode);
  expect(services.store.policies.size).toBe(0);
  expect(services.store.files.size).toBe(0);
});

test.each(['/runs/../approvals/', '/runs/x/..\\../approvals/', '/runs/x/.%2e/../approvals/', '/runs/.\t./approvals/'])(
  'no path of a run leads to a decision: %j',
  async (prefix) => {
    const { statusCode } = await call('POST', `${prefix}${run.runId}-3.c3-0`, { decision: 'approve' });
    expect([400, 404]).toContain(statusCode);
    expect(services.decided).toEqual([]);
  },
);

test.each(['?', '#', '?x=1#'])('nothing of a path is cut off: %j', async (cut) => {
  const { statusCode } = await call('POST', `/runs${cut}/${run.runId}/cancel`, { input: 'x' });
  expect([400, 404]).toContain(statusCode);
  expect(services.started).toEqual([]);
});

test('the plain paths are the ones that do it', async () => {
  expect((await call('PUT', '/policy', { guard: {} })).statusCode).toBe(200);
  expect((await call('POST', `/approvals/${run.runId}-3.c3-0`, { decision: 'approve' })).statusCode).toBe(200);
  expect((await call('POST', '/runs', { input: 'x' })).statusCode).toBe(202);
});

test.each(['a b.txt', 'ü%.txt', 'what?.txt', 'c#.txt', '..a', 'a..b/...', '100%25', '😀'])(
  'and files are called what they are called: %j',
  async (name) => {
    const put = lambdaHandler(createApp(services, { auth: iamAuth({ tenant: 'ours' }) }));
    const answer = await put({
      rawPath: `/sessions/s-1/files/${name}`,
      headers: { 'content-type': 'application/octet-stream' },
      body: 'x',
      requestContext: { http: { method: 'PUT' }, authorizer: { iam: ROLE } },
    });
    expect(answer.statusCode).toBe(200);
    expect([...services.store.files.keys()]).toEqual([`ours/s-1/${name.replace('%25', '%')}`]);
  },
);
