import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type LocalRuntime, startLocal } from '../../lib/runtime/local.ts';
import { connectToLoopback, httpServer, type LoopbackServer } from '../support/web-server.ts';
import { apiClient } from './api-client.ts';
import { localOptions } from './embedded-runner.ts';

/** The public web and a search service, both on loopback: names resolve to public addresses, and only the wire is ours. */
describe('a run that uses the web', () => {
  let directory: string;
  let web: LoopbackServer;
  let searx: LoopbackServer;
  let runtime: LocalRuntime;
  const dialled: string[] = [];
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'handrail-e2e-web-'));
    web = await httpServer((_request, response) =>
      response.writeHead(200, { 'content-type': 'text/html' }).end('<title>A site</title><h1>Welcome</h1><script>alert(1)</script>'),
    );
    searx = await httpServer((request, response) => {
      const query = new URL(request.url ?? '', 'http://searx').searchParams.get('q');
      const results = [{ url: 'https://site.example/page', title: `About ${query}`, content: 'A <b>site</b>' }];
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ results }));
    });
    const options = await localOptions(directory);
    runtime = await startLocal({
      ...options,
      config: { ...options.config, search: { provider: 'searxng', base_url: searx.url } },
      web: {
        resolve: async () => ['93.184.215.14'],
        connectTo: connectToLoopback(
          () => web.port,
          (addresses) => dialled.push(...addresses),
        ),
      },
    });
  });
  afterAll(async () => {
    await runtime?.close();
    await web?.close();
    await searx?.close();
    await rm(directory, { recursive: true, force: true });
  });

  it('searches, then reads what was found, each in a stage of its own', async () => {
    const api = apiClient({ url: runtime.url, authorization: `Bearer ${runtime.secret}` });
    const run = await api.ended(await api.start('scenario-web'));
    expect(run).toMatchObject({ status: 'succeeded', answer: 'Found and read.', effects: { 'net.read': 2 } });
    expect(dialled).toEqual(['93.184.215.14']);
    const events = await api.events(run.runId);
    const calls = events.filter((event) => event.type.startsWith('tool.call.')).map((event) => `${event.type} ${event.data.tool}`);
    expect(calls).toEqual([
      'tool.call.started web_search',
      'tool.call.completed web_search',
      'tool.call.started web_fetch',
      'tool.call.completed web_fetch',
    ]);
  });
});
