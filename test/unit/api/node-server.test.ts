import { expect, test } from 'vitest';
import type { App } from '../../../lib/api/app.ts';
import { serve } from '../../../lib/api/node-server.ts';
import { send } from './server.ts';

test('a port in use is named, with the way to choose another', async () => {
  const app: App = { fetch: () => new Response('x') };
  const first = await serve(app, { port: 0 });
  await expect(serve(app, { port: first.port })).rejects.toMatchObject({
    code: 'CONFLICT',
    message: expect.stringMatching(`${first.port}.*HANDRAIL_PORT`),
  });
  await first.close();
  await (await serve(app, { port: first.port })).close();
});

test('closing lets a request under way end', async () => {
  let arrived: () => void = () => {};
  let release: () => void = () => {};
  const here = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const app: App = {
    fetch: async () => {
      arrived();
      await gate;
      return new Response('whole');
    },
  };
  const server = await serve(app, { port: 0 });
  const answer = send(server.port, 'GET', '/');
  await here;
  const closed = server.close(10_000);
  release();

  expect((await answer).body).toBe('whole');
  await closed;
});

test('a request that never ends does not keep the server from closing', async () => {
  const server = await serve({ fetch: () => new Promise<Response>(() => {}) }, { port: 0 });
  const answer = send(server.port, 'GET', '/').catch((error: Error) => error.message);
  await new Promise((resolve) => setImmediate(resolve));
  await server.close(10);

  expect(await answer).toMatch(/hang up|ECONN/);
});
