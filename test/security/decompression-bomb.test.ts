import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectAnywhere } from '../../lib/adapters/network/connect.ts';
import { exchange } from '../../lib/adapters/network/exchange.ts';
import { FETCH } from '../../lib/core/limits.ts';
import { httpServer, type LoopbackServer } from '../support/web-server.ts';

const MB = 1024 * 1024;
const zeros = Buffer.alloc(200 * MB);
const gzip = gzipSync(zeros);
/** Path → encoding and body. */
const bombs: Readonly<Record<string, readonly [string, Buffer]>> = {
  '/gzip': ['gzip', gzip],
  '/br': ['br', brotliCompressSync(zeros)],
  '/zstd': ['zstd', zstdCompressSync(zeros)],
  '/gzip-in-gzip': ['gzip, gzip', gzipSync(gzip)],
  '/four-times': ['gzip, gzip, gzip, gzip', gzipSync(gzipSync(gzipSync(gzip)))],
  '/small': ['gzip', gzipSync('small')],
  '/limit': ['br', brotliCompressSync(zeros.subarray(0, FETCH.bytes))],
  // A frame that asks for a window of 128 MB: magic number, descriptor, window of 2^27 (RFC 8878, 3.1.1).
  '/zstd-window': ['zstd', Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x88, 0x01, 0x00, 0x00])],
};

let server: LoopbackServer;
beforeAll(async () => {
  server = await httpServer((request, response) => {
    const [encoding, body] = bombs[request.url ?? ''] ?? ['identity', Buffer.from('')];
    response.writeHead(200, { 'content-encoding': encoding }).end(body);
  });
});
afterAll(() => server.close());

const fetch = (path: string) =>
  exchange({
    url: new URL(path, server.url),
    method: 'GET',
    headers: {},
    connector: connectAnywhere,
    signal: AbortSignal.timeout(10_000),
    maxBytes: FETCH.bytes,
  });

describe('a small response that grows', () => {
  test.each(['/gzip', '/br', '/zstd', '/gzip-in-gzip'])('%s is stopped at the limit', async (path) => {
    const before = process.memoryUsage.rss();
    await expect(fetch(path)).rejects.toMatchObject({ code: 'RESOURCE_EXHAUSTED' });
    expect(process.memoryUsage.rss() - before).toBeLessThan(100 * MB);
  });

  test.each(['/four-times', '/zstd-window'])('%s is not even begun', async (path) => {
    await expect(fetch(path)).rejects.toMatchObject({ code: 'INVALID_OUTPUT' });
  });

  test('but an honest one arrives, up to the limit', async () => {
    expect(Buffer.from((await fetch('/small')).body).toString()).toBe('small');
    expect((await fetch('/limit')).body.length).toBe(FETCH.bytes);
  });
});
