import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { createSearch } from '../../../lib/adapters/search/index.ts';
import { HandrailError } from '../../../lib/core/errors.ts';
import { httpServer, type LoopbackServer } from '../../support/web-server.ts';
import { PATHS, type ReceivedRequest, type SearchWire, wires } from './wire.ts';

interface Reply {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

const KEY = 'key-0123456789';
let server: LoopbackServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

async function providerOf(wire: SearchWire, reply: Reply, key: string | undefined = KEY) {
  const requests: ReceivedRequest[] = [];
  server = await httpServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    requests.push({
      method: request.method ?? '',
      url: new URL(request.url ?? '', 'http://server'),
      headers: request.headers,
      body,
    });
    const text = typeof reply.body === 'string' || Buffer.isBuffer(reply.body) ? reply.body : JSON.stringify(reply.body);
    response.writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers }).end(text);
  });
  const secrets: (string | undefined)[] = [];
  const provider = createSearch(wire.config(server.url), {
    userAgent: 'test',
    apiKey: async (secret) => {
      secrets.push(secret);
      return key;
    },
  });
  return { provider, requests, secrets };
}

const ask = { query: 'C++ & "rust" ünïcode', count: 5, signal: AbortSignal.timeout(10_000) };
const results = [
  { title: 'First', url: 'https://one.example/a?b=c', snippet: 'About <strong>one</strong> &amp; more', published: '2026-11-01T00:00:00' },
  { title: 'Second <b>bold</b>', url: 'http://two.example/', snippet: '' },
];

describe.each(wires)('$name', (wire) => {
  it('asks its API as documented, with the query as it is', async () => {
    const { provider, requests, secrets } = await providerOf(wire, { status: 200, body: wire.encode(results) });
    await provider.search({ ...ask, recency: 'week' });
    expect(requests).toHaveLength(1);
    const [request] = requests;
    if (!request) throw new Error('nothing was asked');
    expect(wire.read(request)).toEqual({
      query: ask.query,
      count: wire.counts ? 5 : undefined,
      recency: wire.week,
      key: wire.keyed ? KEY : undefined,
      path: PATHS[wire.name],
    });
    expect(secrets).toEqual(wire.keyed ? ['search-key'] : []);
  });

  it('leaves out what was not asked for', async () => {
    const { provider, requests } = await providerOf(wire, { status: 200, body: wire.encode([]) });
    await provider.search(ask);
    expect(requests.map((request) => wire.read(request).recency)).toEqual([undefined]);
  });

  it('gives results in order, as plain text', async () => {
    const { provider } = await providerOf(wire, { status: 200, body: wire.encode(results) });
    expect(await provider.search(ask)).toEqual([
      { title: 'First', url: 'https://one.example/a?b=c', snippet: 'About one & more', published: '2026-11-01T00:00:00' },
      { title: 'Second bold', url: 'http://two.example/', snippet: '' },
    ]);
  });

  it('gives no more than asked for, and an empty list when there is nothing', async () => {
    const many = Array.from({ length: 30 }, (_, index) => ({ title: `T${index}`, url: `https://x.example/${index}`, snippet: 's' }));
    const { provider } = await providerOf(wire, { status: 200, body: wire.encode(many) });
    expect((await provider.search({ ...ask, count: 3 })).map(({ title }) => title)).toEqual(['T0', 'T1', 'T2']);
    await server?.close();
    const empty = await providerOf(wire, { status: 200, body: wire.encode([]) });
    expect(await empty.provider.search(ask)).toEqual([]);
  });

  it('drops what is no web address, names the untitled by their host, and bounds the texts', async () => {
    const { provider } = await providerOf(wire, {
      status: 200,
      body: wire.encode([
        { title: 'script', url: 'javascript:alert(1)', snippet: '' },
        { title: 'broken', url: 'not a url', snippet: '' },
        { title: null, url: 'https://untitled.example/x', snippet: null },
        { title: 't'.repeat(5_000), url: 'https://long.example/', snippet: '<p>'.repeat(5_000) + 's'.repeat(5_000) },
      ]),
    });
    const found = await provider.search(ask);
    expect(found[0]).toEqual({ title: 'untitled.example', url: 'https://untitled.example/x', snippet: '' });
    expect(found.map(({ title, snippet }) => [title.length <= 300, snippet.length <= 1_000])).toEqual([
      [true, true],
      [true, true],
    ]);
  });

  it('reads a compressed answer', async () => {
    const { provider } = await providerOf(wire, {
      status: 200,
      headers: { 'content-encoding': 'gzip' },
      body: gzipSync(JSON.stringify(wire.encode(results))),
    });
    expect(await provider.search(ask)).toHaveLength(2);
  });

  it.each([
    [429, 'RATE_LIMITED'],
    [500, 'SERVICE_UNAVAILABLE'],
    [503, 'SERVICE_UNAVAILABLE'],
    [401, 'UNHANDLED'],
    [403, 'UNHANDLED'],
    [422, 'UNHANDLED'],
    [302, 'UNHANDLED'],
  ])('tells a refusal by its status: %i is %s, without the key or the query', async (status, code) => {
    const { provider } = await providerOf(wire, { status, body: { error: KEY }, headers: { location: 'http://169.254.169.254/' } });
    const error = await provider.search({ ...ask, query: 'private words' }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code });
    const said = error instanceof HandrailError ? `${error.message} ${error.suggestions.join()}` : '';
    expect(said).not.toContain(KEY);
    expect(said).not.toContain('private words');
  });

  it.each([
    ['HTML', '<html>blocked</html>'],
    ['another form', { error: 'no' }],
    ['broken JSON', '{"results": ['],
  ])('refuses an answer in another form: %s', async (_what, body) => {
    const { provider } = await providerOf(wire, {
      status: 200,
      body: wire.name === 'brave' && typeof body === 'object' ? { web: 1 } : body,
    });
    await expect(provider.search(ask)).rejects.toMatchObject({ code: 'INVALID_OUTPUT' });
  });

  it('refuses an answer that is too large', async () => {
    const { provider } = await providerOf(wire, {
      status: 200,
      body: gzipSync(Buffer.alloc(8_000_000, ' ')),
      headers: { 'content-encoding': 'gzip' },
    });
    await expect(provider.search(ask)).rejects.toMatchObject({ code: 'RESOURCE_EXHAUSTED' });
  });

  it('says that the provider cannot be reached, without its address', async () => {
    const { provider } = await providerOf(wire, { status: 200, body: {} });
    await server?.close();
    await expect(provider.search(ask)).rejects.toMatchObject({ code: 'NETWORK_ERROR', message: expect.not.stringContaining('127.0.0.1') });
  });

  it('ends when the call is given up', async () => {
    const { provider } = await providerOf(wire, { status: 200, body: {} });
    await expect(provider.search({ ...ask, signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'TIMEOUT' });
  });

  it.runIf(wire.keyed)('does not ask without a key', async () => {
    const { provider, requests } = await providerOf(wire, { status: 200, body: {} }, '');
    await expect(provider.search(ask)).rejects.toMatchObject({ code: 'UNHANDLED', message: expect.stringContaining('API key') });
    expect(requests).toEqual([]);
  });
});
