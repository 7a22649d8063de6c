import type { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { fetchRaw, pour } from '../support/web-server.ts';

const OK = 'HTTP/1.1 200 OK\r\n';

describe('endless body', () => {
  const block = 'x'.repeat(64 * 1024);
  test.each<[string, (socket: Socket) => void]>([
    ['without a length', (socket) => pour(socket, `${OK}\r\n`, block)],
    ['in chunks', (socket) => pour(socket, `${OK}transfer-encoding: chunked\r\n\r\n`, `10000\r\n${block}\r\n`)],
  ])('%s is cut at the limit', async (_what, serve) => {
    const answer = await fetchRaw(serve, AbortSignal.timeout(20_000));
    expect(answer).toMatchObject({ code: 'RESOURCE_EXHAUSTED' });
  });
});
