import dns from 'node:dns';
import { Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { connectAnywhere, connectPinned } from '../../lib/adapters/network/connect.ts';
import { exchange } from '../../lib/adapters/network/exchange.ts';
import { createWebClient } from '../../lib/adapters/network/web-client.ts';
import { connectToLoopback, httpServer, type LoopbackServer } from '../support/web-server.ts';

let server: LoopbackServer | undefined;
const undo: (() => void)[] = [];
afterEach(async () => {
  for (const restore of undo.splice(0)) restore();
  await server?.close();
  server = undefined;
});

/** Names that the process asks the system for, by either of Node's ways. */
function watchLookups(): string[] {
  const asked: string[] = [];
  const { lookup } = dns;
  const { lookup: lookupPromise } = dns.promises;
  Object.assign(dns, {
    lookup: (host: string, ...rest: unknown[]) => {
      asked.push(host);
      return Reflect.apply(lookup, dns, [host, ...rest]);
    },
  });
  Object.assign(dns.promises, {
    lookup: (host: string, ...rest: unknown[]) => {
      asked.push(host);
      return Reflect.apply(lookupPromise, dns.promises, [host, ...rest]);
    },
  });
  undo.push(
    () => Object.assign(dns, { lookup }),
    () => Object.assign(dns.promises, { lookup: lookupPromise }),
  );
  return asked;
}

const request = { method: 'GET', headers: {}, maxBytes: 1_000 } as const;

describe('a name that answers otherwise the second time', () => {
  test('is asked once, and the connection goes to what was checked', async () => {
    server = await httpServer((_request, response) => response.end('public'));
    const answers = [['93.184.215.14'], ['127.0.0.1']];
    const dialled: string[] = [];
    const client = createWebClient({
      policy: { allowedDomains: ['*'] },
      userAgent: 'test',
      resolve: async () => answers.shift() ?? [],
      connectTo: connectToLoopback(
        () => server?.port ?? 0,
        (addresses) => dialled.push(...addresses),
      ),
    });
    const { status } = await client.fetch({ url: 'http://rebind.example.com/', accept: '*/*', signal: AbortSignal.timeout(5_000) });
    expect({ status, dialled, left: answers }).toEqual({ status: 200, dialled: ['93.184.215.14'], left: [['127.0.0.1']] });
  });

  test('is refused as soon as one of its addresses is bad, before any connection', async () => {
    const dialled: string[] = [];
    const client = createWebClient({
      policy: { allowedDomains: ['*'] },
      userAgent: 'test',
      resolve: async () => ['93.184.215.14', '127.0.0.1'],
      connectTo: connectToLoopback(
        () => 0,
        (addresses) => dialled.push(...addresses),
      ),
    });
    await expect(
      client.fetch({ url: 'http://mixed.example.com/', accept: '*/*', signal: AbortSignal.timeout(5_000) }),
    ).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
    expect(dialled).toEqual([]);
  });
});

describe('the connection itself', () => {
  test('reaches the pinned address without asking for the name', async () => {
    const hosts: (string | undefined)[] = [];
    server = await httpServer((incoming, response) => {
      hosts.push(incoming.headers.host);
      response.end('pinned');
    });
    const asked = watchLookups();
    const url = new URL(`http://name.example.com:${server.port}/`);
    const response = await exchange({ ...request, url, connector: connectPinned(['127.0.0.1']), signal: AbortSignal.timeout(5_000) });
    expect(Buffer.from(response.body).toString()).toBe('pinned');
    expect(hosts).toEqual([url.host]);
    expect(asked).toEqual([]);
  });

  test('tries the next pinned address when the first does not answer, and no other', async () => {
    server = await httpServer((_request, response) => response.end('second'));
    const asked = watchLookups();
    const tried: unknown[] = [];
    const connect = Reflect.get(Socket.prototype, 'connect');
    Socket.prototype.connect = function (this: Socket, ...args: unknown[]) {
      this.on('connectionAttempt', (address: string) => tried.push(address));
      return Reflect.apply(connect, this, args);
    };
    undo.push(() => {
      Socket.prototype.connect = connect;
    });
    const url = new URL(`http://name.example.com:${server.port}/`);
    const connector = connectPinned(['::1', '127.0.0.1']);
    const response = await exchange({ ...request, url, connector, signal: AbortSignal.timeout(5_000) });
    expect(Buffer.from(response.body).toString()).toBe('second');
    expect(tried).toEqual(['::1', '127.0.0.1']);
    expect(asked).toEqual([]);
  });

  test('would be seen to ask, if it did', async () => {
    server = await httpServer((_request, response) => response.end('looked up'));
    const asked = watchLookups();
    const url = new URL(`http://localhost:${server.port}/`);
    await exchange({ ...request, url, connector: connectAnywhere, signal: AbortSignal.timeout(5_000) });
    expect(asked).toEqual(['localhost']);
  });
});
