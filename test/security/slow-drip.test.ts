import type { Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { createWebClient } from '../../lib/adapters/network/web-client.ts';
import { fetchRaw } from '../support/web-server.ts';

const OK = 'HTTP/1.1 200 OK\r\n';
const timers: NodeJS.Timeout[] = [];
afterEach(() => {
  for (const timer of timers.splice(0)) clearInterval(timer);
});

describe('slow drip: a deadline over the whole, not one that every byte renews', () => {
  test.each<[string, (socket: Socket) => void]>([
    ['nothing at all', () => undefined],
    ['one byte of the status line at a time', (socket) => drip(socket, '', `${OK}x: ${'y'.repeat(10_000)}`.split(''))],
    ['headers that never end', (socket) => drip(socket, OK, 'x: y\r\n'.split(''))],
    ['a body of one byte at a time', (socket) => drip(socket, `${OK}content-length: 100000\r\n\r\n`, ['x'])],
    ['chunks of one byte', (socket) => drip(socket, `${OK}transfer-encoding: chunked\r\n\r\n`, ['1\r\nx\r\n'])],
  ])('%s', async (_what, serve) => {
    const answer = await fetchRaw(serve, AbortSignal.timeout(300));
    expect(answer).toMatchObject({ code: 'TIMEOUT' });
  });

  test('a name that takes for ever to look up', async () => {
    const client = createWebClient({ policy: { allowedDomains: ['*'] }, userAgent: 'test', resolve: () => new Promise(() => undefined) });
    await expect(client.fetch({ url: 'http://slow.example/', accept: '*/*', signal: AbortSignal.timeout(50) })).rejects.toMatchObject({
      code: 'TIMEOUT',
    });
  });

  test('what was given up before it began is not begun', async () => {
    const client = createWebClient({
      policy: { allowedDomains: ['*'] },
      userAgent: 'test',
      resolve: async () => ['93.184.215.14'],
      connectTo: () => expect.unreachable('a connection was begun'),
    });
    await expect(client.fetch({ url: 'http://a.example/', accept: '*/*', signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: 'TIMEOUT',
    });
  });
});

/** Writes `begin`, then one piece after another, again and again, with a pause before each. */
function drip(socket: Socket, begin: string, pieces: readonly string[]): void {
  let at = 0;
  socket.write(begin);
  timers.push(setInterval(() => socket.write(pieces[at++ % pieces.length] ?? ''), 10));
}
