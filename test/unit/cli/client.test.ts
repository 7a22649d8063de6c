import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createClient } from '../../../lib/cli/client.ts';
import { HandrailError } from '../../../lib/core/errors.ts';
import { approvalIdOf } from '../../../lib/core/ids.ts';
import { fakeEvents, fakeRun, fakeSuspension } from '../api/fake-services.ts';
import { SECRETS, startBearerServer, type TestServer } from '../api/server.ts';

let api: TestServer;
beforeAll(async () => {
  api = await startBearerServer();
});
afterAll(() => api.server.close());

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** A server that is not ours. */
async function other(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const client = (secret: string = SECRETS.alpha) => createClient({ url: api.server.url, secret });

test('every route the CLI uses is understood as the API answers it', async () => {
  const run = fakeRun(1, { status: 'waiting', plan: { next: 'suspend', suspensionId: `${fakeRun(1).runId}-3` } });
  const suspension = fakeSuspension(run, ['write_file']);
  api.services.store.runs.push(run);
  api.services.store.suspensions.push(suspension);
  api.services.store.events.push(...fakeEvents(3));
  const approvalId = approvalIdOf(suspension.suspensionId, 'c3-0');

  expect((await client().startRun({ input: 'work', constraints: { max_iterations: 3 } })).status).toBe('running');
  expect(api.services.started.at(-1)).toMatchObject({ input: 'work', constraints: { max_iterations: 3 } });
  expect((await client().listRuns({ limit: 5 })).runs.map(({ runId }) => runId)).toContain(run.runId);
  expect((await client().getRun(run.runId)).approvals).toHaveLength(1);
  expect((await client().listEvents(run.runId, 2)).events.map(({ step }) => step)).toEqual([2, 2, 3, 3, 3]);
  expect((await client().listApprovals({})).approvals.map((approval) => approval.approvalId)).toEqual([approvalId]);
  expect((await client().decide(approvalId, { decision: 'reject', reason: 'no' })).status).toBe('rejected');
  expect((await client().getApproval(approvalId)).status).toBe('rejected');
  expect((await client().cancelRun(run.runId)).runId).toBe(run.runId);
  expect((await client().listTools()).tools.map(({ name }) => name)).toEqual(['read_file']);
  expect((await client().health()).version).toBe('0.0.0-test');
});

test('a refusal keeps its code, its words, the field and the advice', async () => {
  await expect(client().startRun({ input: '' })).rejects.toMatchObject({
    code: 'BAD_REQUEST',
    field: 'input',
    suggestions: ['Correct the request.'],
  });
  await expect(client('not-the-secret-of-this-server').listTools()).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
  api.services.failWith = new HandrailError('SESSION_BUSY', 'a run is active', { extra: { runId: 'r-1' } });
  await expect(client().startRun({ input: 'x' })).rejects.toMatchObject({ code: 'SESSION_BUSY', extra: { runId: 'r-1' } });
});

test('every field that is wrong is named', async () => {
  const error = await client()
    .startRun({ input: '', agent: 'Not A Name' })
    .catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(HandrailError);
  expect(String(error)).toMatch(/input: [\s\S]*agent: |agent: [\s\S]*input: /);
});

test('an id is never a path of its own', async () => {
  const seen: string[] = [];
  const url = await other((request, response) => {
    seen.push(request.url ?? '');
    response.writeHead(404).end();
  });
  await expect(createClient({ url, secret: 's' }).getRun('../health?x=1#y')).rejects.toBeInstanceOf(HandrailError);
  expect(seen).toEqual(['/runs/..%2Fhealth%3Fx%3D1%23y']);
});

test('an address with a path of its own keeps it', async () => {
  const seen: string[] = [];
  const url = await other((request, response) => {
    seen.push(request.url ?? '');
    response.end('{"status":"ok","version":"1"}');
  });
  await createClient({ url: `${url}/_aws/execute-api/abc/`, secret: 's' }).health();
  expect(seen).toEqual(['/_aws/execute-api/abc/health']);
});

test('the secret does not follow a redirect', async () => {
  const asked: IncomingMessage[] = [];
  const thief = await other((request, response) => {
    asked.push(request);
    response.end('{}');
  });
  const url = await other((_request, response) => response.writeHead(307, { location: thief }).end());
  await expect(createClient({ url, secret: 'the-secret' }).startRun({ input: 'x' })).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  expect(asked).toEqual([]);
});

test('a read is repeated when the server fails for a moment, a start is not', async () => {
  let requests = 0;
  const url = await other((_request, response) => {
    requests += 1;
    if (requests === 1) response.writeHead(503).end('busy');
    else response.end('{"tools":[]}');
  });
  const flaky = createClient({ url, secret: 's' });
  expect(await flaky.listTools()).toEqual({ tools: [], refused: [] });
  expect(requests).toBe(2);
  requests = 0;
  await expect(flaky.startRun({ input: 'x' })).rejects.toMatchObject({
    code: 'SERVICE_UNAVAILABLE',
    message: expect.stringContaining('503'),
  });
  expect(requests).toBe(1);
});

test('what is no answer of this API is an error that says so', async () => {
  const html = await other((_request, response) => response.end('<html>hello</html>'));
  await expect(createClient({ url: html, secret: 's' }).listTools()).rejects.toMatchObject({
    code: 'INTERNAL',
    message: expect.stringContaining('GET /tools'),
  });
  const [first] = servers;
  await new Promise((resolve) => first?.close(resolve));
  await expect(createClient({ url: html, secret: 's' }).startRun({ input: 'x' })).rejects.toMatchObject({
    code: 'SERVICE_UNAVAILABLE',
    message: expect.stringContaining('ECONNREFUSED'),
  });
});

test('kinds of events that a newer server has are read too', async () => {
  const { runId, sessionId } = fakeRun(1);
  const event = { type: 'bt.skill.node.io', at: 1, data: {}, step: 1, key: 'EVT#000001#0#0000' };
  const url = await other((_request, response) =>
    response.end(JSON.stringify({ runId, sessionId, status: 'running', events: [event], next: 1, more: false })),
  );
  expect((await createClient({ url, secret: 's' }).listEvents(runId, 0)).events).toEqual([event]);
});
