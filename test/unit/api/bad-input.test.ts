import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { everyPermission } from '../../../lib/api/principal.ts';
import { problemSchema } from '../../../lib/api/problem.ts';
import type { Route } from '../../../lib/api/route.ts';
import { routes } from '../../../lib/api/routes.ts';
import { REQUEST_BYTES } from '../../../lib/core/limits.ts';
import { fakeRun, fakeSuspension } from './fake-services.ts';
import { jsonHeaders, type RawAnswer, SECRETS, send, startBearerServer, type TestServer } from './server.ts';

let fixture: TestServer;
beforeAll(async () => {
  fixture = await startBearerServer();
  const run = fakeRun(1);
  fixture.services.store.runs = [run];
  fixture.services.store.suspensions = [fakeSuspension(run, ['write_file'])];
});
afterAll(() => fixture.server.close());

const KNOWN = { runId: fakeRun(1).runId, approvalId: `${fakeRun(1).runId}-3.c3-0` };
const pathOf = (route: Route, ids = KNOWN) => route.path.replaceAll(/\{(\w+)\}/g, (_all, name: 'runId' | 'approvalId') => ids[name]);
const named = (list: readonly Route[]) => list.map((route): [string, Route] => [`${route.method.toUpperCase()} ${route.path}`, route]);
const withBody = named(routes.filter((route) => route.body !== undefined));
// Sessions have tests of their own: one may have files before it has a run, so no well-formed id is unknown there.
const withIds = named(routes.filter((route) => route.params !== undefined && !route.page && !route.path.startsWith('/sessions')));
/** Node's client sends a body with these only when it is told its length. */
const bodiless = (route: Route): boolean => route.method === 'get' || route.method === 'delete';
const guarded = named(routes.filter((route) => route.access !== 'public'));
const api = named(routes.filter((route) => !route.page));

const request = (route: Route, body?: string | Buffer, headers: Record<string, string> = {}, path = pathOf(route)) =>
  send(fixture.server.port, route.method.toUpperCase(), path, { ...jsonHeaders(SECRETS.alpha), ...headers }, body);

function expectProblem(answer: RawAnswer, status: number, code: string, field?: string) {
  expect([answer.status, answer.headers['content-type']]).toEqual([status, 'application/problem+json']);
  const problem = problemSchema.parse(JSON.parse(answer.body));
  expect(problem).toMatchObject({ status, code, ...(field === undefined ? {} : { field }) });
  expect(answer.body.length).toBeLessThan(5_000);
}

describe.each(withBody)('%s', (_name, route) => {
  test.each([
    ['a truncated object', '{"input": "x"'],
    ['a bare word', 'undefined'],
    ['single quotes', "{'input':'x'}"],
    ['a trailing comma', '{"input":"x",}'],
    ['two documents', '{} {}'],
    ['a byte order of its own', Buffer.from('\ufeff{"input":"x"}', 'utf16le')],
  ])('refuses a body that is not JSON: %s', async (_what, body) => {
    expectProblem(await request(route, body), 400, 'BAD_REQUEST', 'body');
  });

  test.each(['[]', 'null', '42', '"text"', 'true', '[{}]'])('refuses a body that is no object: %s', async (body) => {
    expectProblem(await request(route, body), 400, 'BAD_REQUEST');
  });

  test('refuses an unknown field by its name', async () => {
    const answer = await request(route, '{"surprise":1}');
    expectProblem(answer, 400, 'BAD_REQUEST');
    const { field, errors = [{ field }] } = JSON.parse(answer.body);
    // A union cannot say which fields are unknown before its discriminator is right.
    expect(['surprise', 'decision']).toContain(errors.at(-1).field);
  });

  test('refuses bytes that are not UTF-8', async () => {
    expectProblem(await request(route, Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d])), 400, 'BAD_REQUEST', 'body');
  });

  test('refuses JSON nested deeper than anyone needs, whatever it is made of', async () => {
    for (const [open, close] of [
      ['[', ']'],
      ['{"a":', '}'],
    ] as const)
      expectProblem(await request(route, `{"input":${open.repeat(100_000)}1${close.repeat(100_000)}}`), 400, 'BAD_REQUEST', 'body');
  });

  test('refuses __proto__ at any depth', async () => {
    expectProblem(await request(route, '{"__proto__":{"isAdmin":true}}'), 400, 'BAD_REQUEST', '__proto__');
    expectProblem(await request(route, '{"arguments":{"a":[{"__proto__":1}]}}'), 400, 'BAD_REQUEST', 'arguments.a.0.__proto__');
    expect(({} as Record<string, unknown>)['isAdmin']).toBeUndefined();
  });

  test('refuses bodies over 1 MB, announced or not', async () => {
    const big = Buffer.alloc(REQUEST_BYTES + 1, 0x20);
    expectProblem(await request(route, big), 413, 'PAYLOAD_TOO_LARGE', 'body');
    expectProblem(await request(route, big, { 'transfer-encoding': 'chunked' }), 413, 'PAYLOAD_TOO_LARGE', 'body');
  });

  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/json; charset=utf-16',
    'application/jsonx',
    'x',
  ])('refuses the content type %s', async (type) => {
    expectProblem(await request(route, '{}', { 'content-type': type }), 415, 'BAD_REQUEST', 'content-type');
  });

  test('refuses compressed bodies', async () => {
    expectProblem(await request(route, '{}', { 'content-encoding': 'gzip' }), 415, 'BAD_REQUEST', 'content-encoding');
  });
});

describe.each(withIds)('%s', (_name, route) => {
  const body =
    route.path.includes('approvals') && route.method === 'post' ? '{"decision":"approve"}' : route.body === undefined ? undefined : '{}';
  test.each([
    ['unknown', fakeRun(9).runId, `${fakeRun(9).runId}-3.c3-0`],
    ['of an unknown call', fakeRun(9).runId, `${fakeRun(1).runId}-3.c3-7`],
    ['malformed', 'r-1', 'nonsense'],
    ['with an encoded slash', `${fakeRun(1).runId}%2F`, `${KNOWN.approvalId}%2F..`],
    ['with a broken escape', '%ZZ', '%E0%A4%A'],
    ['with a NUL', `${fakeRun(1).runId}%00`, `${KNOWN.approvalId}%00`],
    ['in capitals', fakeRun(1).runId.toUpperCase(), KNOWN.approvalId.toUpperCase()],
    ['of Object.prototype', '__proto__', 'constructor'],
    ['very long', 'r'.repeat(5_000), 'r'.repeat(5_000)],
  ])('answers 404 for an id %s', async (_what, runId, approvalId) => {
    expectProblem(await request(route, body, {}, pathOf(route, { runId, approvalId })), 404, 'NOT_FOUND');
  });
});

describe.each(guarded)('%s', (_name, route) => {
  test.each([
    ['no secret', {}],
    ['a wrong one', { authorization: 'Bearer wrong-secret-0123456789' }],
    ['one with a letter too many', { authorization: `Bearer ${SECRETS.alpha}x` }],
    ['an empty one', { authorization: 'Bearer ' }],
    ['another scheme', { authorization: `Basic ${Buffer.from(`x:${SECRETS.alpha}`).toString('base64')}` }],
    ['the secret in a query', { 'x-secret': SECRETS.alpha }],
  ])('refuses %s with 401, before it looks at anything else', async (_what, headers) => {
    const answer = await send(
      fixture.server.port,
      route.method.toUpperCase(),
      `${pathOf(route)}?access_token=${SECRETS.alpha}`,
      headers,
      bodiless(route) ? undefined : 'not json',
    );
    expectProblem(answer, 401, 'UNAUTHORIZED');
    expect(answer.headers['www-authenticate']).toBe('Bearer');
  });

  test('refuses who has every permission but the one it needs, and names that', async () => {
    if (route.access === 'signed-in') return;
    for (const permission of ['run', 'read', 'approve', 'delete'] as const) {
      if (permission === route.access) continue;
      const answer = await send(
        fixture.server.port,
        route.method.toUpperCase(),
        pathOf(route),
        jsonHeaders(SECRETS[permission]),
        bodiless(route) ? undefined : '{}',
      );
      expectProblem(answer, 403, 'FORBIDDEN');
      expect(JSON.parse(answer.body)).toMatchObject({ permission: route.access });
    }
    expect(everyPermission.has(route.access as never)).toBe(true);
  });
});

describe.each(api)('%s', (_name, route) => {
  const taken = new Set(routes.filter((other) => other.path === route.path).map((other) => other.method.toUpperCase()));

  test('refuses other methods with 405 and says which there are', async () => {
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND'].filter((name) => !taken.has(name))) {
      const answer = await send(fixture.server.port, method, pathOf(route), jsonHeaders(SECRETS.alpha));
      expectProblem(answer, 405, 'METHOD_NOT_ALLOWED');
      expect(answer.headers['allow']?.toString().split(', ')).toEqual(expect.arrayContaining([...taken, 'OPTIONS']));
    }
  });

  test('answers OPTIONS with its methods and lets no other origin in', async () => {
    const answer = await send(fixture.server.port, 'OPTIONS', pathOf(route), {
      origin: 'https://evil.example',
      'access-control-request-method': 'POST',
    });
    expect(answer.status).toBe(204);
    expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });

  test('sends the headers that keep browsers safe', async () => {
    const answer = await request(route);
    expect(answer.headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-frame-options': 'DENY',
    });
    expect(answer.headers['content-security-policy']).toMatch(/default-src 'none'.*frame-ancestors 'none'/);
  });
});

describe('queries', () => {
  const run = fakeRun(1).runId;
  test.each([
    ['/runs?status=running&status=failed', 'status'],
    ['/runs?status=exploded', 'status'],
    ['/runs?status=starting', 'status'],
    ['/runs?limit=0', 'limit'],
    ['/runs?limit=101', 'limit'],
    ['/runs?limit=ten', 'limit'],
    ['/runs?limit=1.5', 'limit'],
    ['/runs?limit=1e400', 'limit'],
    ['/runs?cursor=..%2F..%2Fetc', 'cursor'],
    ['/runs?cursor=AAAA', 'cursor'],
    ['/runs?cursor=', 'cursor'],
    ['/runs?sessionId=a%20b', 'sessionId'],
    ['/runs?tenant=beta', 'tenant'],
    ['/runs?__proto__=1', '__proto__'],
    [`/runs/${run}/events?after=-1`, 'after'],
    [`/runs/${run}/events?after=1&after=2`, 'after'],
    [`/runs/${run}/events?after=NaN`, 'after'],
    [`/runs/${run}/events?after=9999999`, 'after'],
    ['/approvals?status=maybe', 'status'],
    ['/tools?x=1', 'x'],
  ])('%s is refused by the field %s', async (path, field) => {
    expectProblem(await send(fixture.server.port, 'GET', path, jsonHeaders(SECRETS.alpha)), 400, 'BAD_REQUEST', field);
  });
});

describe('bodies of the wrong shape', () => {
  const start = (body: unknown) => send(fixture.server.port, 'POST', '/runs', jsonHeaders(SECRETS.alpha), JSON.stringify(body));
  test.each([
    [{}, 'input'],
    [{ input: '' }, 'input'],
    [{ input: 5 }, 'input'],
    [{ input: null }, 'input'],
    [{ input: ['x'] }, 'input'],
    [{ input: 'x', agent: '../etc' }, 'agent'],
    [{ input: 'x', agent: '__proto__' }, 'agent'],
    [{ input: 'x', sessionId: 'a#b' }, 'sessionId'],
    [{ input: 'x', sessionId: '' }, 'sessionId'],
    [{ input: 'x', skills: 'csv' }, 'skills'],
    [{ input: 'x', skills: [1] }, 'skills.0'],
    [{ input: 'x', idempotencyKey: '' }, 'idempotencyKey'],
    [{ input: 'x', idempotencyKey: 'k'.repeat(257) }, 'idempotencyKey'],
    [{ input: 'x', tenant: 'beta' }, 'tenant'],
    [{ input: 'x', constraints: { max_iterations: 0 } }, 'constraints.max_iterations'],
    [{ input: 'x', constraints: { max_iterations: 1e308 } }, 'constraints.max_iterations'],
    [{ input: 'x', constraints: { guard: { default_policy: 'maybe' } } }, 'constraints.guard.default_policy'],
    [{ input: 'x', constraints: { guard: { budget: { cost_usd: -1 } } } }, 'constraints.guard.budget.cost_usd'],
    [{ input: 'x', constraints: { guard: { confirm_default: 'allow' } } }, 'constraints.guard.confirm_default'],
    [{ input: 'x', [`k${'y'.repeat(100_000)}`]: 1 }, undefined],
  ])('POST /runs %j is refused by the field %s', async (body, field) => {
    expectProblem(await start(body), 400, 'BAD_REQUEST', field);
  });

  test('every wrong field is named', async () => {
    expect(JSON.parse((await start({ input: 1, agent: 2, extra: 3 })).body).errors.map((error: { field: string }) => error.field)).toEqual([
      'input',
      'agent',
      'extra',
    ]);
  });

  const approval = KNOWN.approvalId;
  test.each([
    [`/approvals/${approval}`, {}, 'decision'],
    [`/approvals/${approval}`, { decision: true }, 'decision'],
    [`/approvals/${approval}`, { decision: 'APPROVE' }, 'decision'],
    [`/approvals/${approval}`, { decision: 'answer' }, 'answer'],
    [`/approvals/${approval}`, { decision: 'reject', arguments: {} }, 'arguments'],
    [`/approvals/${approval}`, { decision: 'approve', arguments: 'rm' }, 'arguments'],
    [`/approvals/${approval}`, { decision: 'approve', tool: 'other' }, 'tool'],
    [`/approvals/${approval}`, { decision: 'approve', hash: 'x' }, 'hash'],
    [`/approvals/${approval}`, { decision: 'reject', reason: 'x'.repeat(5_000) }, 'reason'],
    ['/approvals', { decisions: [] }, 'decisions'],
    ['/approvals', { decisions: [{ decision: 'approve' }] }, 'decisions.0.approvalId'],
    ['/approvals', { decisions: [{ approvalId: 'x', decision: 'approve' }] }, 'decisions.0.approvalId'],
    ['/approvals', { decisions: Array(129).fill({ approvalId: approval, decision: 'approve' }) }, 'decisions'],
  ])('POST %s %j is refused by the field %s', async (path, body, field) => {
    expectProblem(
      await send(fixture.server.port, 'POST', path, jsonHeaders(SECRETS.alpha), JSON.stringify(body)),
      400,
      'BAD_REQUEST',
      field,
    );
    expect(fixture.services.decided).toEqual([]);
  });
});

test.each(['/nope', '//runs', '/runs/', '/RUNS', '/runs/../health/x', '/.env', '/%2e%2e/etc/passwd', '/console.js/x', '/runs%00'])(
  '%s is answered 404',
  async (path) => {
    expectProblem(await send(fixture.server.port, 'GET', path, jsonHeaders(SECRETS.alpha)), 404, 'NOT_FOUND');
  },
);

describe('what is hardly HTTP', () => {
  const raw = (text: string) =>
    new Promise<string>((resolve, reject) => {
      const socket = connect(fixture.server.port, '127.0.0.1', () => socket.write(text));
      let answer = '';
      socket.setEncoding('utf8').on('data', (chunk) => {
        answer += chunk;
      });
      socket.on('close', () => resolve(answer));
      socket.on('error', reject);
    });

  test.each([
    ['no HTTP at all', 'hello\r\n\r\n', '400'],
    ['headers without end', `GET / HTTP/1.1\r\nHost: x\r\nA: ${'a'.repeat(70_000)}\r\n\r\n`, '431'],
    ['two lengths', 'POST /runs HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}', '400'],
    [
      'a length and chunks (request smuggling)',
      'POST /runs HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      '400',
    ],
    ['a Host with a path', 'GET /health HTTP/1.1\r\nHost: a/b\r\nConnection: close\r\n\r\n', '400'],
  ])('%s is answered with a problem', async (_what, text, status) => {
    const answer = await raw(text);
    expect(answer.split('\r\n', 1)[0]).toContain(status);
    expect(answer).toContain('application/problem+json');
  });

  test('a body that ends too early harms nobody', async () => {
    const socket = connect(fixture.server.port, '127.0.0.1');
    socket.write(
      `POST /runs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${SECRETS.alpha}\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{"input":`,
    );
    await new Promise((resolve) => socket.once('connect', resolve));
    socket.destroy();

    expect(await send(fixture.server.port, 'GET', '/health')).toMatchObject({ status: 200 });
    expect(fixture.services.started).toEqual([]);
  });
});

test('nothing above was a failure of the server', () => {
  expect(fixture.services.logged).toEqual([]);
});
