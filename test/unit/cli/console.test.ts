import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { createCli } from '../../../lib/cli/cli.ts';
import { fakeRun, fakeSuspension } from '../api/fake-services.ts';
import { type RawAnswer, SECRETS, send, startBearerServer, type TestServer } from '../api/server.ts';
import { type FakeContext, fakeContext } from './fake-context.ts';

/** `handrail console` in front of a server that takes bearer secrets. */
let deployment: TestServer;
beforeAll(async () => {
  deployment = await startBearerServer();
});
afterAll(() => deployment.server.close());

let context: FakeContext;
let ended: Promise<unknown>;
let port: number;
let key: string;
const run = fakeRun(1, { status: 'waiting', plan: { next: 'suspend', suspensionId: `${fakeRun(1).runId}-3` } });

async function open(secret: string, url = deployment.server.url): Promise<void> {
  context = fakeContext({ env: { HANDRAIL_URL: url, HANDRAIL_SECRET: secret } });
  ended = createCli(context).parseAsync(['node', 'handrail', 'console', '--json']);
  while (!context.out().includes('\n')) await new Promise((resolve) => setTimeout(resolve, 5));
  const { link } = JSON.parse(context.out());
  port = Number(new URL(link).port);
  key = new URL(link).searchParams.get('key') ?? '';
}
beforeEach(() => {
  deployment.services.store.runs = [run];
  deployment.services.store.suspensions = [fakeSuspension(run, ['write_file'])];
  deployment.services.decided.length = 0;
});
afterEach(async () => {
  context.signals.emit('SIGINT');
  await ended;
});

/** A browser that has opened the link. */
async function signedIn(): Promise<Record<string, string>> {
  const { status, headers } = await send(port, 'GET', `/?key=${key}`, { host: `127.0.0.1:${port}` });
  expect(status).toBe(303);
  return { host: `127.0.0.1:${port}`, cookie: String(headers['set-cookie']).split(';', 1)[0] ?? '', 'sec-fetch-site': 'same-origin' };
}
const parsed = ({ status, body }: RawAnswer) => [status, JSON.parse(body)];

test('shows and decides what the caller may, as the caller; the secret stays here', async () => {
  await open(SECRETS.alpha);
  const headers = await signedIn();
  expect(parsed(await send(port, 'GET', '/runs?limit=5', headers))).toMatchObject([200, { runs: [{ runId: run.runId }] }]);
  const body = JSON.stringify({ decision: 'reject', reason: 'no' });
  const decided = await send(port, 'POST', `/approvals/${run.runId}-3.c3-0`, { ...headers, 'content-type': 'application/json' }, body);
  expect(parsed(decided)).toMatchObject([200, { status: 'rejected', decision: { by: 'alpha:owner', how: 'api' } }]);
  const page = await send(port, 'GET', '/', headers);
  expect([page.status, page.body.includes('data-pages="no"')]).toEqual([200, true]);
  expect(`${page.body}${JSON.stringify(page.headers)}${context.out()}`).not.toContain(SECRETS.alpha);
});

test('lets nobody in without the link, which works once, and no page of another origin', async () => {
  await open(SECRETS.alpha);
  const headers = await signedIn();
  const fresh = await send(port, 'GET', `/?key=${key}`, { host: `127.0.0.1:${port}` });
  expect([fresh.status, fresh.headers['set-cookie']]).toEqual([401, undefined]);
  const { cookie = '', ...without } = headers;
  expect((await send(port, 'GET', '/runs', without)).status).toBe(401);
  for (const foreign of [{ host: 'evil.example' }, { origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }])
    expect((await send(port, 'GET', '/runs', { ...headers, cookie, ...foreign })).status).toBe(403);
});

test('sends on what the console asks for and nothing else', async () => {
  await open(SECRETS.alpha);
  const headers = await signedIn();
  for (const [method, path] of [
    ['DELETE', '/sessions/s-1'],
    ['PUT', '/policy'],
    ['GET', '/policy'],
    ['GET', `/runs/${run.runId}/export`],
    ['GET', '/sessions/s-1/files/a'],
    ['POST', '/approvals'],
    ['GET', `/a/${run.runId}-3`],
  ] as const) {
    const { status } = await send(port, method, path, headers);
    expect([404, 405], `${method} ${path}`).toContain(status);
  }
});

test('says why the deployment refused, and does not ask to sign in where that would not help', async () => {
  await open(SECRETS.run);
  expect(parsed(await send(port, 'GET', '/runs', await signedIn()))).toMatchObject([403, { code: 'FORBIDDEN', permission: 'read' }]);
  context.signals.emit('SIGINT');
  await ended;
  await open('a-secret-that-nobody-knows');
  expect(parsed(await send(port, 'GET', '/runs', await signedIn()))).toMatchObject([502, { code: 'UNAUTHORIZED' }]);
  context.signals.emit('SIGINT');
  await ended;
  await open(SECRETS.alpha, 'http://127.0.0.1:1');
  expect(parsed(await send(port, 'GET', '/runs', await signedIn()))).toMatchObject([503, { code: 'SERVICE_UNAVAILABLE' }]);
});
