import { describe, expect, test } from 'vitest';
import { fetchRaw, pour } from '../support/web-server.ts';

const OK = 'HTTP/1.1 200 OK\r\n';

describe('header flood', () => {
  test.each<[string, string]>([
    ['3000 headers', Array.from({ length: 3_000 }, (_, index) => `x${index}: y\r\n`).join('')],
    ['700 short ones, which fit into any size', 'a:\r\n'.repeat(700)],
    ['one of 20 KB', `x: ${'y'.repeat(20_000)}\r\n`],
  ])('%s', async (_what, headers) => {
    const answer = await fetchRaw((socket) => socket.write(`${OK}${headers}\r\nbody`), AbortSignal.timeout(20_000));
    expect(answer).toMatchObject({ code: 'RESOURCE_EXHAUSTED' });
  });

  test('interim responses without end', async () => {
    const answer = await fetchRaw(
      (socket) => pour(socket, '', 'HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n'),
      AbortSignal.timeout(20_000),
    );
    expect(answer).toMatchObject({ code: 'RESOURCE_EXHAUSTED' });
  });

  test.each<[string, string]>([
    ['no HTTP', 'SSH-2.0-OpenSSH_9.9\r\n'],
    ['two lengths', `${OK}content-length: 1\r\ncontent-length: 2\r\n\r\nxx`],
    ['length and chunks', `${OK}content-length: 1\r\ntransfer-encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n`],
    ['an upgrade nobody asked for', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n'],
  ])('%s is an error, never a crash', async (_what, response) => {
    const answer = await fetchRaw((socket) => socket.end(response), AbortSignal.timeout(20_000));
    expect(answer).toMatchObject({ code: 'NETWORK_ERROR', message: expect.not.stringContaining('127.0.0.1:0') });
  });
});
