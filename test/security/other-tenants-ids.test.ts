import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { routes } from '../../lib/api/routes.ts';
import { fakeRun, fakeSuspension } from '../unit/api/fake-services.ts';
import { jsonHeaders, SECRETS, send, startBearerServer, type TestServer } from '../unit/api/server.ts';

let fixture: TestServer;
beforeAll(async () => {
  fixture = await startBearerServer();
});
afterAll(() => fixture.server.close());
beforeEach(() => {
  const mine = fakeRun(1, { tenant: 'alpha', status: 'waiting', plan: { next: 'suspend', suspensionId: `${fakeRun(1).runId}-3` } });
  fixture.services.store.runs = [mine, fakeRun(3, { tenant: 'beta' })];
  fixture.services.store.suspensions = [fakeSuspension(mine, ['write_file'])];
  fixture.services.decided.length = 0;
});

const call = (method: string, path: string, secret: string, body?: unknown) =>
  send(fixture.server.port, method, path, jsonHeaders(secret), body === undefined ? undefined : JSON.stringify(body));

const withIds = routes
  // The approval page has its own tests: it answers with pages, and its links are not of a tenant.
  .filter((route) => /\{(?:runId|approvalId)\}/.test(route.path) && !route.page)
  .map((route): [string, string, (runId: string) => string, unknown] => [
    route.method.toUpperCase(),
    route.path,
    (runId) => route.path.replace('{runId}', runId).replace('{approvalId}', `${runId}-3.c3-0`),
    route.method === 'get' ? undefined : route.path.startsWith('/approvals') ? { decision: 'approve' } : {},
  ]);

test.each(withIds)("%s %s answers another tenant's id exactly as one that nobody has", async (method, _path, pathOf, body) => {
  const foreign = await call(method, pathOf(fakeRun(1).runId), SECRETS.beta, body);
  const unknown = await call(method, pathOf(fakeRun(9).runId), SECRETS.beta, body);
  const own = await call(method, pathOf(fakeRun(1).runId), SECRETS.alpha, body);

  expect(foreign.status).toBe(404);
  expect(foreign.body).toBe(unknown.body);
  expect({ ...foreign.headers, date: '' }).toEqual({ ...unknown.headers, date: '' });
  expect(own.status).toBeLessThan(300);
});

test("a batch that names one approval of another tenant decides nothing, one's own included", async () => {
  const run = fakeRun(3, { tenant: 'beta' });
  fixture.services.store.suspensions.push(fakeSuspension(run, ['write_file']));
  const decisions = [run.runId, fakeRun(1).runId].map((runId) => ({ approvalId: `${runId}-3.c3-0`, decision: 'approve' }));

  expect((await call('POST', '/approvals', SECRETS.beta, { decisions })).status).toBe(404);
  expect(fixture.services.decided).toEqual([]);
});

test('lists show nothing of other tenants, whatever a request says its tenant is', async () => {
  const headers = { ...jsonHeaders(SECRETS.beta), 'x-tenant': 'alpha', 'x-handrail-tenant': 'alpha' };
  expect(
    JSON.parse((await send(fixture.server.port, 'GET', '/runs', headers)).body).runs.map((run: { runId: string }) => run.runId),
  ).toEqual([fakeRun(3).runId]);
  expect(JSON.parse((await send(fixture.server.port, 'GET', '/approvals?status=all', headers)).body).approvals).toEqual([]);
  expect((await send(fixture.server.port, 'GET', '/runs?tenant=alpha', headers)).status).toBe(400);
});

test('a run is started for the tenant of the caller alone', async () => {
  expect((await call('POST', '/runs', SECRETS.beta, { input: 'x', tenant: 'alpha' })).status).toBe(400);
  await call('POST', '/runs', SECRETS.beta, { input: 'x' });
  expect(fixture.services.started.map((request) => request.tenant)).toEqual(['beta']);
});

test("a store that returned another tenant's suspension or run would still not be believed", async () => {
  fixture.services.guard.listSuspensions = async () => ({ items: fixture.services.store.suspensions, cursor: undefined });
  expect(JSON.parse((await call('GET', '/approvals', SECRETS.beta)).body).approvals).toEqual([]);
});

test('a session of another tenant is as one that nobody has, and files of the same session id are others', async () => {
  const { store } = fixture.services;
  store.sessions.push({ v: 1, tenant: 'alpha', sessionId: 's-1', createdAt: 1, runSeq: 1, state: { secret: 'of alpha' } });
  store.files.set('alpha/s-1/report.md', Buffer.from('of alpha'));
  for (const [method, path] of [
    ['GET', '/sessions/s-1'],
    ['DELETE', '/sessions/s-1'],
    ['GET', '/sessions/s-1/files'],
    ['GET', '/sessions/s-1/files/report.md'],
  ] as const) {
    const foreign = await call(method, path, SECRETS.beta);
    expect(foreign.status).toBe(404);
    expect(foreign.body).toBe((await call(method, path.replace('s-1', 's-9'), SECRETS.beta)).body.replaceAll('s-9', 's-1'));
  }
  await send(
    fixture.server.port,
    'PUT',
    '/sessions/s-1/files/report.md',
    { ...jsonHeaders(SECRETS.beta), 'content-type': 'application/octet-stream' },
    'of beta',
  );
  expect(Buffer.from(store.files.get('alpha/s-1/report.md') ?? []).toString()).toBe('of alpha');
  expect(store.sessions).toHaveLength(1);
});
