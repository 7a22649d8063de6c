import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { HandrailError } from '../../../lib/core/errors.ts';
import { runIdFrom } from '../../../lib/core/ids.ts';
import { fakeRun, fakeSuspension, NOW, TOKEN } from './fake-services.ts';
import { jsonHeaders, SECRETS, send, startBearerServer, type TestServer } from './server.ts';

let fixture: TestServer;
beforeAll(async () => {
  fixture = await startBearerServer();
});
afterAll(() => fixture.server.close());

const run = fakeRun(1, { sessionId: 's-1', status: 'waiting', plan: { next: 'suspend', suspensionId: `${fakeRun(1).runId}-3` } });
const approval = (n: number) => `${run.runId}-3.c3-${n}`;
beforeEach(() => {
  const { services } = fixture;
  services.audited.length = 0;
  services.store.runs = [run];
  services.store.suspensions = [fakeSuspension(run, ['write_file', 'execute_shell'])];
  services.store.sessions.splice(0, 9, { v: 1, tenant: 'alpha', sessionId: 's-1', createdAt: NOW, runSeq: 1, state: {} });
});

const call = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
  send(
    fixture.server.port,
    method,
    path,
    { ...jsonHeaders(SECRETS.alpha), ...headers },
    body === undefined ? undefined : JSON.stringify(body),
  );
const owner = { tenant: 'alpha', by: 'alpha:owner' };

describe('the audit is told', () => {
  test('which runs a deletion takes, before it takes any', async () => {
    const { deleteSession } = fixture.services;
    fixture.services.deleteSession = async (session, announce) => {
      announce(['r-1', 'r-2']);
      throw new HandrailError('INTERNAL', `lost on the way: ${session.sessionId}`);
    };
    expect((await call('DELETE', '/sessions/s-1')).status).toBe(500);
    fixture.services.deleteSession = deleteSession;
    expect((await call('DELETE', '/sessions/s-1')).status).toBe(204);
    expect(fixture.services.audited).toEqual([
      { ...owner, action: 'session.delete', session: 's-1', runs: ['r-1', 'r-2'] },
      { ...owner, action: 'session.delete', session: 's-1', runs: [run.runId] },
    ]);
  });

  test('of a long list of runs in lines that a log can take, and each run once', async () => {
    const many = Array.from({ length: 2_500 }, (_, n) => runIdFrom(Buffer.from(String(n).padStart(20, '0'))));
    const { deleteSession } = fixture.services;
    fixture.services.deleteSession = async (_session, announce) => announce(many);
    await call('DELETE', '/sessions/s-1');
    fixture.services.deleteSession = deleteSession;
    expect(fixture.services.audited.flatMap((entry) => (entry.action === 'session.delete' ? entry.runs : []))).toEqual(many);
    for (const entry of fixture.services.audited) expect(JSON.stringify(entry).length).toBeLessThan(100_000);
  });

  test('of a cancel, an export, a change of policy and a file', async () => {
    await call('POST', `/runs/${run.runId}/cancel`);
    await call('GET', `/runs/${run.runId}/export`);
    await call('PUT', '/policy', { guard: { tool_policy: { '*': 'deny' } } }, { 'if-match': '"0"' });
    const type = { 'content-type': 'application/octet-stream' };
    await send(fixture.server.port, 'PUT', '/sessions/s-1/files/a/b.csv', { ...jsonHeaders(SECRETS.alpha), ...type }, 'x,y');
    expect(fixture.services.audited).toEqual([
      { ...owner, action: 'run.cancel', run: run.runId, session: 's-1' },
      { ...owner, action: 'run.export', run: run.runId, session: 's-1', after: 0 },
      { ...owner, action: 'policy.change', scope: 'tenant', version: 1 },
      { ...owner, action: 'file.write', session: 's-1', path: 'a/b.csv', bytes: 3 },
    ]);
  });

  test('of decisions, whoever makes them and from where, and of no reason or argument', async () => {
    await call(
      'POST',
      `/approvals/${approval(0)}`,
      { decision: 'approve', arguments: { path: 'secret' } },
      { 'user-agent': 'handrail-cli/1.0' },
    );
    await call('POST', '/approvals', { decisions: [{ approvalId: approval(1), decision: 'reject', reason: 'secret' }] });
    const form = new URLSearchParams({ t: TOKEN, do: 'approve:c3-0' }).toString();
    await send(fixture.server.port, 'POST', `/a/${run.runId}-3`, { 'content-type': 'application/x-www-form-urlencoded' }, form);
    const told = { tenant: 'alpha', action: 'approval.decide', run: run.runId };
    expect(fixture.services.audited).toEqual([
      { ...told, by: 'alpha:owner', how: 'cli', decisions: [`${approval(0)} edit`] },
      { ...told, by: 'alpha:owner', how: 'api', decisions: [`${approval(1)} reject`] },
      { ...told, by: 'link:0123abcd', how: 'page', decisions: [`${approval(0)} approve`] },
    ]);
  });

  test('nothing of what was refused', async () => {
    fixture.services.refuse = { code: 'ALREADY_DECIDED', message: 'decided' };
    await call('POST', `/approvals/${approval(0)}`, { decision: 'approve' });
    await call('PUT', '/policy', { guard: {} }, { 'if-match': '"7"' });
    await call('POST', `/runs/${fakeRun(9).runId}/cancel`);
    await call('DELETE', '/sessions/s-1', undefined, { authorization: `Bearer ${SECRETS.run}` });
    expect(fixture.services.audited).toEqual([]);
  });
});

test('who may start runs may not delete their record', async () => {
  const answer = await call('DELETE', '/sessions/s-1', undefined, { authorization: `Bearer ${SECRETS.run}` });
  expect([answer.status, JSON.parse(answer.body)]).toMatchObject([403, { permission: 'delete' }]);
  expect(fixture.services.store.sessions).toHaveLength(1);
});

describe('lines that are logged meanwhile are about', () => {
  test.each([
    ['GET', `/runs/${run.runId}/events`, { route: 'GET /runs/{runId}/events', tenant: 'alpha', run: run.runId }],
    ['GET', '/sessions/s-1', { route: 'GET /sessions/{sessionId}', tenant: 'alpha', session: 's-1' }],
    ['GET', `/approvals/${approval(0)}`, { route: 'GET /approvals/{approvalId}', tenant: 'alpha', run: run.runId }],
    ['GET', `/a/${run.runId}-3?t=${TOKEN}`, { route: 'GET /a/{suspensionId}', run: run.runId }],
    ['GET', '/runs/not-an-id', { route: 'GET /runs/{runId}', tenant: 'alpha' }],
    ['POST', '/runs', { route: 'POST /runs', tenant: 'alpha' }],
  ])('%s %s', async (method, path, about) => {
    await call(method, path);
    expect(fixture.services.lastAbout).toEqual(about);
  });

  test('the route alone, where the caller is not let in', async () => {
    await call('GET', `/runs/${run.runId}`, undefined, { authorization: 'Bearer nobody-knows-this-one' });
    expect(fixture.services.lastAbout).toEqual({ route: 'GET /runs/{runId}', run: run.runId });
  });
});
