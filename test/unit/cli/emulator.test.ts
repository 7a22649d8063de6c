import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { afterEach, describe, expect, it } from 'vitest';
import { findEmulator, startEmulator } from '../../../lib/cli/emulator.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** Answers the paths with JSON, everything else with 404. */
async function serve(paths: Readonly<Record<string, unknown>>): Promise<number> {
  const server = createServer((request, response) => {
    const body = paths[request.url ?? ''];
    response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'application/json' }).end(JSON.stringify(body ?? {}));
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

const services = { lambda: 'available', states: 'available' };

describe('finding an emulator', () => {
  it('knows MiniStack, although it answers for LocalStack too', async () => {
    const port = await serve({
      '/_ministack/health': { services, edition: 'light' },
      '/_localstack/health': { services, edition: 'light' },
    });
    expect(await findEmulator(port)).toEqual({ kind: 'ministack', endpoint: `http://127.0.0.1:${port}`, port, started: false });
  });

  it('knows LocalStack', async () => {
    const port = await serve({ '/_localstack/health': { services, edition: 'pro' } });
    expect(await findEmulator(port)).toMatchObject({ kind: 'localstack' });
  });

  it('says what the community edition of LocalStack lacks', async () => {
    const port = await serve({ '/_localstack/health': { services, edition: 'community' } });
    await expect(findEmulator(port)).rejects.toThrow('apigatewayv2');
  });

  it('finds none where nothing answers, or something else does', async () => {
    const free = await serve({});
    await new Promise((resolve) => servers.pop()?.close(resolve));
    expect(await findEmulator(free)).toBeUndefined();
    expect(await findEmulator(await serve({ '/_localstack/health': 'hello' }))).toBeUndefined();
  });
});

describe('starting an emulator', () => {
  it('uses the one that runs', async () => {
    const port = await serve({ '/_ministack/health': { services } });
    expect(await startEmulator({ root: tmpdir(), port })).toMatchObject({ kind: 'ministack', started: false });
  });

  it('leaves a port alone that something else uses, and says so', async () => {
    const port = await serve({});
    await expect(startEmulator({ root: tmpdir(), port })).rejects.toThrow(`Port ${port} is used`);
  });
});
