import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { FILE_TRANSFER_BYTES } from '../../../lib/core/limits.ts';
import { fakeEvents, fakeRun, fakeSuspension, NOW } from './fake-services.ts';
import { jsonHeaders, SECRETS, send, startBearerServer, type TestServer } from './server.ts';

let fixture: TestServer;
beforeAll(async () => {
  fixture = await startBearerServer();
});
afterAll(() => fixture.server.close());
beforeEach(() => {
  const { store } = fixture.services;
  store.sessions.length = 0;
  store.commits.length = 0;
  store.files.clear();
  store.runs = [];
});

const get = (path: string, secret: string = SECRETS.alpha) => send(fixture.server.port, 'GET', path, jsonHeaders(secret));
const put = (path: string, body: Buffer | string, headers: Record<string, string> = {}) =>
  send(fixture.server.port, 'PUT', path, { ...jsonHeaders(SECRETS.alpha), 'content-type': 'application/octet-stream', ...headers }, body);

describe('a session', () => {
  const given = (status: 'running' | 'succeeded') => {
    const run = fakeRun(1, { sessionId: 's-1', status, stateChanges: { b: 2 } });
    fixture.services.store.runs = [run];
    fixture.services.store.sessions.push({
      v: 1,
      tenant: 'alpha',
      sessionId: 's-1',
      createdAt: NOW,
      runSeq: 1,
      activeRun: run.runId,
      state: { a: 1, b: 1 },
    });
    return run;
  };

  test('shows its runs, the one at work, and the state as of before it', async () => {
    const run = given('running');
    const body = JSON.parse((await get('/sessions/s-1')).body);
    expect(body).toMatchObject({ sessionId: 's-1', activeRun: run.runId, state: { a: 1, b: 1 }, runs: [{ runId: run.runId }] });
  });

  test('shows what a run that has ended left in the state', async () => {
    given('succeeded');
    const body = JSON.parse((await get('/sessions/s-1')).body);
    expect(body.state).toEqual({ a: 1, b: 2 });
    expect(body.activeRun).toBeUndefined();
  });

  test('shows values that are items of their own like the others', async () => {
    const at = 'MSG#value.1.2.0#000001#000002#a#';
    const run = given('succeeded');
    fixture.services.store.runs = [{ ...run, storedChanges: { a: { stored: 5_000, at } } }];
    fixture.services.store.commits.push({ prefix: at, prev: undefined, messages: [{ role: 'value', key: 'a', value: ['long'] }] });
    expect(JSON.parse((await get('/sessions/s-1')).body).state).toEqual({ a: ['long'], b: 2 });
  });

  test('is deleted by who may delete, and by nobody else, and then is not there', async () => {
    given('succeeded');
    const remove = (secret: string) => send(fixture.server.port, 'DELETE', '/sessions/s-1', jsonHeaders(secret));
    for (const secret of [SECRETS.read, SECRETS.run, SECRETS.approve]) expect((await remove(secret)).status).toBe(403);
    expect((await remove(SECRETS.delete)).status).toBe(204);
    expect((await get('/sessions/s-1')).status).toBe(404);
    expect((await remove(SECRETS.delete)).status).toBe(404);
  });

  test.each(['a b', 'x'.repeat(65), '%00', 'a%2Fb'])('is not found by an id that none can have: %s', async (id) => {
    for (const path of [`/sessions/${id}`, `/sessions/${id}/files`, `/sessions/${id}/files/a`])
      expect((await get(encodeURI(path).replaceAll('%25', '%'))).status).toBe(404);
  });
});

describe('files of a session', () => {
  const every = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));

  test('come back byte by byte, never as a page', async () => {
    const written = await put('/sessions/s-1/files/data/raw%20file.html', every);
    expect([written.status, JSON.parse(written.body)]).toEqual([200, { path: 'data/raw file.html', bytes: 256, created: true }]);
    const response = await fetch(`${fixture.server.url}/sessions/s-1/files/data/raw%20file.html`, { headers: jsonHeaders(SECRETS.read) });
    expect(Buffer.from(await response.arrayBuffer()).equals(every)).toBe(true);
    expect(response.headers.get('content-type')).toBe('application/octet-stream');
    expect(response.headers.get('content-disposition')).toBe('attachment');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(JSON.parse((await get('/sessions/s-1/files')).body).entries).toMatchObject([{ path: 'data/raw file.html', bytes: 256 }]);
  });

  test('are listed for a session that exists or has some; an id that has neither is not found', async () => {
    expect((await get('/sessions/s-9/files')).status).toBe(404);
    expect((await put('/sessions/s-9/files/a', 'x')).status).toBe(200);
    expect(JSON.parse((await get('/sessions/s-9/files')).body).entries).toHaveLength(1);
    fixture.services.store.sessions.push({ v: 1, tenant: 'alpha', sessionId: 's-8', createdAt: 1, runSeq: 1, state: {} });
    const listed = await get('/sessions/s-8/files');
    expect([listed.status, JSON.parse(listed.body)]).toEqual([200, { entries: [] }]);
  });

  test('may be empty, and as large as the API carries, and no larger', async () => {
    expect((await put('/sessions/s-1/files/empty', '')).status).toBe(200);
    expect((await put('/sessions/s-1/files/large', Buffer.alloc(FILE_TRANSFER_BYTES))).status).toBe(200);
    expect((await put('/sessions/s-1/files/larger', Buffer.alloc(FILE_TRANSFER_BYTES + 1))).status).toBe(413);
  });

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/json'])('are not written as %s', async (type) => {
    expect((await put('/sessions/s-1/files/a', 'x', { 'content-type': type })).status).toBe(415);
    expect(fixture.services.store.files.size).toBe(0);
  });

  test('are written by who may run, and not by who may only read', async () => {
    expect((await put('/sessions/s-1/files/a', 'x', { authorization: `Bearer ${SECRETS.read}` })).status).toBe(403);
    expect((await put('/sessions/s-1/files/a', 'x', { authorization: `Bearer ${SECRETS.run}` })).status).toBe(200);
  });
});

function withHead(head: string) {
  const run = fakeRun(1);
  for (const frame of run.frames) frame.head = head;
  return run;
}

describe('the export of a run', () => {
  test('has messages, events and decisions, and nothing to answer in another place with', async () => {
    const run = withHead('MSG#main#000001#000002#b#');
    const { store } = fixture.services;
    store.runs = [run];
    store.commits.push(
      { prefix: 'MSG#main#000001#000001#a#', prev: undefined, messages: [{ role: 'user', text: 'go' }] },
      {
        prefix: 'MSG#main#000001#000002#b#',
        prev: 'MSG#main#000001#000001#a#',
        messages: [{ role: 'assistant', text: 'done', calls: [{ callId: 'c2-0', tool: 'look', arguments: { password: 'hunter2' } }] }],
      },
      {
        prefix: 'MSG#main#000001#000002#x#',
        prev: 'MSG#main#000001#000001#a#',
        messages: [{ role: 'assistant', text: 'lost', calls: [] }],
      },
    );
    store.suspensions = [{ ...fakeSuspension(run, ['write_file']), links: [{ hash: 'link-hash', expiresAt: NOW }] }];
    store.events = [...fakeEvents(2), { type: 'approval.requested', at: NOW, data: {}, step: 3, key: 'EVT#000003#0#0000' }];
    const answer = await get(`/runs/${run.runId}/export`);
    const body = JSON.parse(answer.body);
    expect(body.messages.map(({ message }: { message: { text: string } }) => message.text)).toEqual(['go', 'done']);
    expect(body.events).toHaveLength(5);
    expect(body.suspensions).toMatchObject([{ approvals: { 'c3-0': { tool: 'write_file' } } }]);
    for (const secret of ['task-token', 'link-hash', 'hunter2']) expect(answer.body).not.toContain(secret);
    expect(body.next).toBeUndefined();
  });

  test('comes in pages of whole steps where it is large, each part once', async () => {
    const run = withHead('MSG#main#000001#000004#a#');
    const prefix = (step: number) => `MSG#main#000001#00000${step}#a#`;
    const { store } = fixture.services;
    store.runs = [run];
    store.events = fakeEvents(4);
    for (const step of [1, 2, 3, 4])
      store.commits.push({
        prefix: prefix(step),
        prev: step === 1 ? undefined : prefix(step - 1),
        messages: [{ role: 'user', text: 'x'.repeat(1_400_000) }],
      });
    const steps: number[] = [];
    const events: string[] = [];
    let pages = 0;
    for (let after: number | undefined = 0; after !== undefined; pages++) {
      const page = JSON.parse((await get(`/runs/${run.runId}/export?after=${after}`)).body);
      steps.push(...page.messages.map(({ step }: { step: number }) => step));
      events.push(...page.events.map(({ key }: { key: string }) => key));
      after = page.next;
    }
    expect(pages).toBe(2);
    expect(steps).toEqual([1, 2, 3, 4]);
    expect(events).toEqual(fakeEvents(4).map(({ key }) => key));
  });
});
