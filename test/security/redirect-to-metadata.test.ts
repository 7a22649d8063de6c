import { afterEach, describe, expect, test } from 'vitest';
import { createWebClient } from '../../lib/adapters/network/web-client.ts';
import { connectToLoopback, httpServer, type LoopbackServer } from '../support/web-server.ts';

const METADATA = 'http://169.254.169.254/latest/meta-data/iam/security-credentials/';

let server: LoopbackServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

/** A public site that answers every request with a redirect; the paths it was asked for, and the addresses connected to. */
async function site(redirectOf: (path: string) => string) {
  const paths: string[] = [];
  const dialled: string[] = [];
  server = await httpServer((request, response) => {
    paths.push(request.url ?? '');
    response.writeHead(302, { location: redirectOf(request.url ?? '') }).end("the body of a redirect is nobody's business");
  });
  const client = createWebClient({
    policy: { allowedDomains: ['site.example', 'other.example'] },
    userAgent: 'test',
    resolve: async (host) => (host === 'internal.site.example' ? ['10.0.0.1'] : ['93.184.215.14']),
    connectTo: connectToLoopback(
      () => server?.port ?? 0,
      (addresses) => dialled.push(...addresses),
    ),
  });
  const fetch = (url: string) => client.fetch({ url, accept: '*/*', signal: AbortSignal.timeout(5_000) });
  return { fetch, paths, dialled };
}

describe('a public page that redirects', () => {
  test.each([
    ['to the metadata service', METADATA],
    ['to it by a number', 'http://2852039166/latest/meta-data/'],
    ['to it in IPv6', 'http://[::ffff:a9fe:a9fe]/latest/meta-data/'],
    ['to this machine', '//127.0.0.1:9001/2018-06-01/runtime/invocation/next'],
    ['to a file', 'file:///proc/self/environ'],
    ['to a host that is not allowed', 'http://unlisted.example/'],
    ['to an address with credentials in it', 'http://user:pass@other.example/'],
    ['to another port', 'http://other.example:22/'],
  ])('%s is not followed', async (_where, location) => {
    const { fetch, paths, dialled } = await site(() => location);
    await expect(fetch('http://site.example/page')).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
    expect({ paths, dialled }).toEqual({ paths: ['/page'], dialled: ['93.184.215.14'] });
  });

  test('from https to http is not followed, which would show the address to everybody on the way', async () => {
    const { fetch, paths } = await site(() => 'http://other.example/page?token=1');
    await expect(fetch('https://site.example/page')).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
    expect(paths).toEqual(['/page']);
  });

  test('is checked anew at every hop: the metadata service behind four good ones', async () => {
    const { fetch, paths } = await site((path) => (path === '/4' ? METADATA : `/${Number(path.slice(1)) + 1}`));
    await expect(fetch('http://site.example/1')).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
    expect(paths).toEqual(['/1', '/2', '/3', '/4']);
  });

  test('for ever is given up after five', async () => {
    const { fetch, paths } = await site(() => '/again');
    await expect(fetch('http://site.example/again')).rejects.toMatchObject({ message: expect.stringContaining('more than 5 times') });
    expect(paths).toHaveLength(6);
  });
});
