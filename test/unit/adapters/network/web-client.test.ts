import { createServer as createTlsServer } from 'node:https';
import { afterEach, describe, expect, test } from 'vitest';
import { connectPinned, systemResolve } from '../../../../lib/adapters/network/connect.ts';
import { exchange } from '../../../../lib/adapters/network/exchange.ts';
import { createWebClient, type WebClientOptions } from '../../../../lib/adapters/network/web-client.ts';
import type { WebHead } from '../../../../lib/core/ports/web-client.ts';
import { connectToLoopback, httpServer, type LoopbackServer } from '../../../support/web-server.ts';

let server: LoopbackServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

function client(options: Partial<WebClientOptions> = {}) {
  return createWebClient({
    policy: { allowedDomains: ['*'] },
    userAgent: 'Handrail/test',
    resolve: async () => ['93.184.215.14'],
    connectTo: connectToLoopback(() => server?.port ?? 0),
    ...options,
  });
}
const request = (url: string) => ({ url, accept: 'text/html', signal: AbortSignal.timeout(5_000) });

describe('the web client', () => {
  test('sends who it is, what it takes and for whom, and nothing else', async () => {
    const seen: string[][] = [];
    server = await httpServer((incoming, response) => {
      seen.push([
        `${incoming.method} ${incoming.url}`,
        ...Object.entries(incoming.headers).map(([name, value]) => `${name}: ${String(value)}`),
      ]);
      response.end();
    });
    await client().fetch(request('http://Site.Example./a%20b?c=d&e=ü#fragment'));
    expect(seen).toEqual([
      [
        'GET /a%20b?c=d&e=%C3%BC',
        'host: site.example.',
        'connection: close',
        'accept: text/html',
        'user-agent: Handrail/test',
        'accept-encoding: gzip, br, zstd',
      ],
    ]);
  });

  test('keeps only headers that say what the body is', async () => {
    server = await httpServer((_incoming, response) =>
      response
        .writeHead(200, {
          'content-type': 'text/plain',
          'set-cookie': ['a=1', 'b=2'],
          'x-internal-host': '10.0.0.7',
          server: 'secret/1.0',
          etag: `"${'e'.repeat(1_000)}"`,
        })
        .end('x'),
    );
    const { headers } = await client().fetch(request('http://site.example/'));
    expect(Object.keys(headers).sort()).toEqual(['content-type', 'date', 'etag']);
    expect(headers['etag']).toHaveLength(200);
  });

  test('does not carry cookies from one hop to the next', async () => {
    const cookies: unknown[] = [];
    server = await httpServer((incoming, response) => {
      cookies.push(incoming.headers.cookie);
      if (incoming.url === '/') response.writeHead(302, { location: '/next', 'set-cookie': 'a=1' }).end();
      else response.end('done');
    });
    expect(await client().fetch(request('http://site.example/'))).toMatchObject({ url: 'http://site.example/next', redirects: 1 });
    expect(cookies).toEqual([undefined, undefined]);
  });

  test('shows the head of the last response only, and leaves the body unread when told to', async () => {
    server = await httpServer((incoming, response) => {
      if (incoming.url === '/') response.writeHead(301, { location: '/next' }).end();
      else response.writeHead(200, { 'content-type': 'application/pdf' }).end('x'.repeat(1_000));
    });
    const heads: WebHead[] = [];
    const fetching = client().fetch({
      ...request('http://site.example/'),
      onHead: (head) => {
        heads.push(head);
        throw new TypeError('not wanted');
      },
    });
    await expect(fetching).rejects.toThrow();
    expect(heads).toMatchObject([{ url: 'http://site.example/next', status: 200, headers: { 'content-type': 'application/pdf' } }]);
  });

  test('takes a redirect without a location for an answer', async () => {
    server = await httpServer((_incoming, response) => response.writeHead(302).end('look elsewhere'));
    expect(await client().fetch(request('http://site.example/'))).toMatchObject({ status: 302, redirects: 0 });
  });

  test('does not look up a host that is not listed', async () => {
    const asked: string[] = [];
    const strict = client({
      policy: { allowedDomains: ['*.site.example'] },
      resolve: async (host) => {
        asked.push(host);
        return [];
      },
    });
    await expect(strict.fetch(request('http://secret-as-a-name.evil.example/'))).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
    await expect(strict.fetch(request('http://site.example/'))).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
    await expect(strict.fetch(request('http://a.b.site.example/'))).rejects.toMatchObject({ code: 'NETWORK_ERROR' });
    expect(asked).toEqual(['a.b.site.example']);
  });

  test('reaches ports that are configured', async () => {
    server = await httpServer((_incoming, response) => response.end('8443'));
    const policy = { allowedDomains: ['*'], allowedPorts: [8443] };
    expect(await client({ policy }).fetch(request('https://site.example:8443/'))).toMatchObject({ status: 200 });
    await expect(client({ policy }).fetch(request('https://site.example/'))).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
  });

  test.each(['', 'site.example/page', '/page', 'http://', 'http://[::1', 'http://a b/'])('says that %j is no URL', async (url) => {
    await expect(client().fetch(request(url))).rejects.toMatchObject({ code: 'INVALID_ARGUMENTS' });
  });

  test('says that a host cannot be looked up now', async () => {
    const failing = client({ resolve: () => Promise.reject(Object.assign(new Error('EAI_AGAIN 10.0.0.2'), { code: 'EAI_AGAIN' })) });
    await expect(failing.fetch(request('http://site.example/'))).rejects.toMatchObject({
      code: 'NETWORK_ERROR',
      message: expect.not.stringContaining('10.0.0.2'),
    });
  });

  test('refuses a certificate that nobody vouches for', async () => {
    const tls = createTlsServer({}, (_incoming, response) => response.end('x'));
    await new Promise<void>((resolve) => tls.listen(0, '127.0.0.1', resolve));
    const address = tls.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const fetching = exchange({
      url: new URL(`https://site.example:${port}/`),
      method: 'GET',
      headers: {},
      connector: connectPinned(['127.0.0.1']),
      signal: AbortSignal.timeout(5_000),
      maxBytes: 100,
    });
    await expect(fetching).rejects.toMatchObject({ code: 'NETWORK_ERROR' });
    await new Promise((resolve) => tls.close(resolve));
  });

  test('asks the system for addresses, and takes no such name for none', async () => {
    expect(await systemResolve('localhost')).toEqual(expect.arrayContaining([expect.stringMatching(/^(?:127\.0\.0\.1|::1)$/)]));
  });
});
