import { Script } from 'node:vm';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { routes } from '../../lib/api/routes.ts';
import { fakeRun, fakeSuspension } from '../unit/api/fake-services.ts';
import { LOCAL_SECRET, type RawAnswer, send, startLocalServer } from '../unit/api/server.ts';

/**
 * The attackers are pages in the browser of the person who runs `npm start`, and programs of other users of the machine.
 * A page can make the browser send requests here, with the headers that browsers add; it can choose none of those.
 */
let fixture: Awaited<ReturnType<typeof startLocalServer>>;
let host: string;
let cookie: string;
beforeAll(async () => {
  fixture = await startLocalServer();
  host = `127.0.0.1:${fixture.server.port}`;
  cookie = cookieOf(await send(fixture.server.port, 'GET', `/?key=${fixture.auth.ticket()}`, { host }));
});
afterAll(() => fixture.server.close());
beforeEach(() => {
  fixture.services.started.length = 0;
  fixture.services.decided.length = 0;
  const run = fakeRun(1, { status: 'waiting' });
  fixture.services.store.runs = [run];
  fixture.services.store.suspensions = [fakeSuspension(run, ['write_file'])];
});

const cookieOf = (answer: RawAnswer) => String(answer.headers['set-cookie']).split(';', 1)[0] ?? '';
const approval = `/approvals/${fakeRun(1).runId}-3.c3-0`;
const go = (method: string, path: string, headers: Record<string, string> = {}, body?: string) =>
  // Without a length Node sends no framing for the body of a DELETE, and the server would read it as the next request.
  send(
    fixture.server.port,
    method,
    path,
    { host, ...headers, ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }) },
    body,
  );
const json = { 'content-type': 'application/json' };
const bearer = { authorization: `Bearer ${LOCAL_SECRET}` };
const ownPage = () => ({
  cookie,
  origin: `http://${host}`,
  'sec-fetch-site': 'same-origin',
  'sec-fetch-mode': 'cors',
  'sec-fetch-dest': 'empty',
});
const nothingHappened = () => expect([fixture.services.started, fixture.services.decided]).toEqual([[], []]);

test('what is allowed works: the secret, and the cookie from our own page', async () => {
  expect((await go('GET', '/runs', bearer)).status).toBe(200);
  expect((await go('GET', '/runs', ownPage())).status).toBe(200);
  expect((await go('POST', approval, { ...ownPage(), ...json }, '{"decision":"approve"}')).status).toBe(200);
  expect((await go('GET', '/runs', { ...bearer, host: `localhost:${fixture.server.port}` })).status).toBe(200);
  expect((await go('GET', '/runs', { ...bearer, host: `[::1]:${fixture.server.port}` })).status).toBe(200);
});

describe('DNS rebinding: a name of the attacker points to 127.0.0.1', () => {
  const names = () => [
    'evil.example',
    `evil.example:${fixture.server.port}`,
    `127.0.0.1.nip.io:${fixture.server.port}`,
    `localhost.evil.example:${fixture.server.port}`,
    `127.0.0.1:${fixture.server.port}.evil.example`,
    `127.0.0.1@evil.example:${fixture.server.port}`,
    `0.0.0.0:${fixture.server.port}`,
    `127.1:${fixture.server.port}`,
    `2130706433:${fixture.server.port}`,
    '127.0.0.1',
    '127.0.0.1:1',
  ];

  test('every other Host is refused, on every route, public ones and unknown ones too, even with secret and cookie', async () => {
    for (const name of names()) {
      for (const path of ['/', '/health', '/console.js', '/runs', '/openapi.json', '/nope']) {
        const answer = await go('GET', path, { ...bearer, cookie, host: name });
        expect([name, path, answer.status]).toEqual([name, path, /@|\d\.evil/.test(name) ? 400 : 403]);
      }
    }
  });

  test('a second Host header, or one in the request line, does not help', async () => {
    const secret = ['Authorization', bearer.authorization];
    for (const hosts of [['Host', host, 'Host', 'evil.example'], ['Host', 'evil.example', 'Host', host], ['Host', ''], []])
      expect([hosts, (await send(fixture.server.port, 'GET', '/runs', [...hosts, ...secret])).status]).toEqual([
        hosts,
        hosts.length > 2 ? 403 : 400,
      ]);
    expect((await go('GET', 'http://evil.example/runs', bearer)).status).toBe(403);
  });
});

describe('CSRF: a page of another origin sends a request with the cookie', () => {
  const origins = () => [
    'https://evil.example',
    'null',
    'file://',
    `http://127.0.0.1:${fixture.server.port + 1}`,
    'http://127.0.0.1',
    `https://127.0.0.1:${fixture.server.port}`,
    `http://localhost:${fixture.server.port}`,
    `http://${host}.evil.example`,
    `http://${host}/`,
  ];

  test('every other Origin is refused on every route, before anything else is looked at', async () => {
    for (const origin of origins())
      for (const route of routes) {
        const answer = await go(
          route.method.toUpperCase(),
          route.path.replaceAll(/\{\w+\}/g, fakeRun(1).runId),
          { cookie, ...bearer, ...json, origin },
          route.method === 'get' ? undefined : '{}',
        );
        expect([origin, route.path, answer.status]).toEqual([origin, route.path, 403]);
      }
    nothingHappened();
  });

  test('a form of another page (no preflight, cookie of the same site) starts nothing and decides nothing', async () => {
    for (const type of ['application/x-www-form-urlencoded', 'text/plain', 'multipart/form-data; boundary=x'])
      for (const from of [{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }, { 'sec-fetch-site': 'same-site' }, {}]) {
        const body = '{"input":"x","decision":"approve"}';
        expect((await go('POST', '/runs', { cookie, 'content-type': type, ...from }, body)).status).toBeGreaterThanOrEqual(400);
        expect((await go('POST', approval, { cookie, 'content-type': type, ...from }, body)).status).toBeGreaterThanOrEqual(400);
      }
    nothingHappened();
  });

  test('a write without content type, as a beacon or an empty form sends it, needs more than the cookie', async () => {
    expect((await go('POST', `/runs/${fakeRun(1).runId}/cancel`, { cookie })).status).toBe(415);
    expect((await go('POST', `/runs/${fakeRun(1).runId}/cancel`, bearer)).status).toBe(202);
  });

  test('a preflight is never granted', async () => {
    for (const origin of ['https://evil.example', `http://${host}`]) {
      const answer = await go('OPTIONS', '/runs', {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization, content-type',
      });
      expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    }
  });

  test('a page of another port of the same host is another origin, though cookies do not know ports', async () => {
    for (const from of [{ 'sec-fetch-site': 'same-site' }, { origin: 'http://127.0.0.1:3000' }])
      expect((await go('POST', '/runs', { cookie, ...json, ...from }, '{"input":"x"}')).status).toBe(403);
    nothingHappened();
  });
});

describe('XSSI and probing: another page loads our addresses as script, image, frame or style', () => {
  test.each(['script', 'image', 'style', 'iframe', 'object', 'empty', 'worker'])(
    'a cross-site %s gets nothing, not even whether we run',
    async (dest) => {
      for (const path of ['/', '/runs', '/console.js', '/health', '/openapi.json']) {
        const answer = await go('GET', path, {
          cookie,
          'sec-fetch-site': 'cross-site',
          'sec-fetch-mode': 'no-cors',
          'sec-fetch-dest': dest,
        });
        expect([path, answer.status, answer.headers['content-type']]).toEqual([path, 403, 'application/problem+json']);
      }
    },
  );

  test('data is never a script, and nothing may be framed', async () => {
    const answer = await go('GET', '/runs', ownPage());
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(answer.headers['x-content-type-options']).toBe('nosniff');
    expect(answer.headers['cross-origin-resource-policy']).toBe('same-origin');
    expect(() => new Script(answer.body)).toThrow(SyntaxError);
    expect((await go('GET', '/')).headers['content-security-policy']).toContain("frame-ancestors 'none'");
  });

  test('a link to the page may be followed from anywhere, to data not', async () => {
    const navigation = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
    expect((await go('GET', '/', navigation)).status).toBe(401);
    expect((await go('GET', '/runs', { ...navigation, cookie })).status).toBe(403);
    expect((await go('POST', '/', { ...navigation, cookie })).status).toBe(403);
  });
});

describe('the secret and the cookie', () => {
  test('without either no route answers but health and the page that asks for the secret', async () => {
    const open = [];
    for (const route of routes) {
      const answer = await go(
        route.method.toUpperCase(),
        route.path.replaceAll(/\{\w+\}/g, fakeRun(1).runId),
        json,
        route.method === 'get' ? undefined : '{"secret":"guess"}',
      );
      if (answer.status !== 401) open.push([route.path, answer.status]);
    }
    expect(open).toEqual([
      // The approval page, without a link: it opens nothing, and takes no JSON.
      ['/a/{suspensionId}', 404],
      ['/a/{suspensionId}', 415],
      ['/console.js', 200],
      ['/console.css', 200],
      ['/health', 200],
    ]);
  });

  test('another user of the machine who asks for the page gets no cookie', async () => {
    for (const headers of [
      {},
      { 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' },
      { origin: `http://${host}` },
    ]) {
      const answer = await go('GET', '/', headers);
      expect(answer.status).toBe(401);
      expect(answer.headers['set-cookie']).toBeUndefined();
      expect(answer.body).not.toContain(LOCAL_SECRET);
    }
  });

  test('the cookie cannot be read by scripts, is not sent from other sites, and is not the secret', () => {
    expect(cookie).toMatch(new RegExp(`^handrail-${fixture.server.port}=`));
    expect(cookie).not.toContain(LOCAL_SECRET);
  });

  test('a link signs in once: found again in a history it is worth nothing', async () => {
    const key = fixture.auth.ticket();
    const first = await go('GET', `/?key=${key}`);
    const again = await go('GET', `/?key=${key}`);

    expect([first.status, first.headers['location']]).toEqual([303, '/']);
    expect(String(first.headers['set-cookie'])).toMatch(/; Path=\/; HttpOnly; SameSite=Strict$/);
    expect([again.status, again.headers['set-cookie']]).toEqual([401, undefined]);
    expect((await go('GET', `/?key=${key}`, { cookie: cookieOf(first) })).status).toBe(303);
  });

  test('a made-up, empty or cut key is worth nothing', async () => {
    const key = fixture.auth.ticket();
    for (const guess of ['', 'x', key.slice(0, -1), `${key}x`, LOCAL_SECRET, encodeURIComponent(cookie)]) {
      const answer = await go('GET', `/?key=${guess}`);
      expect([guess, answer.status, answer.headers['set-cookie']]).toEqual([guess, 401, undefined]);
    }
  });

  test('only so many links are open at once', async () => {
    const first = fixture.auth.ticket();
    for (let n = 0; n < 16; n++) fixture.auth.ticket();
    expect((await go('GET', `/?key=${first}`)).status).toBe(401);
  });

  test('the secret signs a browser in, from our own page only', async () => {
    const body = JSON.stringify({ secret: LOCAL_SECRET });
    expect(cookieOf(await go('POST', '/console/session', { ...json, origin: `http://${host}` }, body))).toBe(cookie);
    expect((await go('POST', '/console/session', json, '{"secret":"wrong"}')).status).toBe(401);
    expect((await go('POST', '/console/session', { ...json, origin: 'http://evil.example' }, body)).headers['set-cookie']).toBeUndefined();
  });

  test('a wrong Authorization header is not saved by a good cookie', async () => {
    expect((await go('GET', '/runs', { cookie, authorization: 'Bearer wrong' })).status).toBe(401);
  });

  test('a cookie of the same name set by another port neither lets in nor locks out', async () => {
    const name = cookie.split('=', 1)[0];
    expect((await go('GET', '/runs', { cookie: `${name}=forged` })).status).toBe(401);
    expect((await go('GET', '/runs', { cookie: `${name}=forged; ${cookie}` })).status).toBe(200);
  });

  test('the cookie is no bearer token, and the secret no cookie', async () => {
    const [name = '', value = ''] = cookie.split('=');
    expect((await go('GET', '/runs', { authorization: `Bearer ${value}` })).status).toBe(401);
    expect((await go('GET', '/runs', { cookie: `${name}=${LOCAL_SECRET}` })).status).toBe(401);
  });
});
