import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { connectDirectly } from '../../../../lib/adapters/stores/dynalite-direct.ts';

type Request = Parameters<ReturnType<typeof connectDirectly>['handler']['handle']>[0];

const asked = (body: string | Uint8Array): Request => ({
  method: 'POST',
  protocol: 'http:',
  hostname: 'localhost',
  path: '/',
  query: {},
  headers: { 'x-amz-target': 'DynamoDB_20120810.GetItem' },
  body,
  clone: () => asked(body),
});

function answering(answer: (request: IncomingMessage, body: string, response: ServerResponse) => void) {
  return connectDirectly(
    createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => answer(request, Buffer.concat(chunks).toString(), response));
    }),
  );
}

describe('a request to a server of this process', () => {
  it('brings method, headers and body there, and status, headers and body back', async () => {
    const { handler } = answering((request, body, response) => {
      response.statusCode = 400;
      response.setHeader('X-Amz-Crc32', 7);
      response.end(`${request.method} ${request.url} ${request.headers['x-amz-target']} ${body}`);
    });
    for (const body of ['{"é":1}', new TextEncoder().encode('{"é":1}'), new TextEncoder().encode('  {"é":1}').subarray(2)]) {
      const { response } = await handler.handle(asked(body));
      expect(response).toMatchObject({ statusCode: 400, headers: { 'x-amz-crc32': '7' } });
      expect(Buffer.from(response.body).toString()).toBe('POST / DynamoDB_20120810.GetItem {"é":1}');
    }
  });

  it('fails when the server throws, instead of ending the process', async () => {
    const { handler } = answering(() => {
      throw new Error('broken');
    });
    await expect(handler.handle(asked('{}'))).rejects.toThrow('broken');
  });

  it('is waited for, and so is one that begins meanwhile', async () => {
    const open: ServerResponse[] = [];
    const { handler, idle } = answering((_request, _body, response) => open.push(response));
    let answered = 0;
    const ask = () => handler.handle(asked('{}')).then(() => answered++);
    void ask();
    const settled = idle().then(() => answered);
    void ask();
    for (const response of open) {
      await new Promise((resolve) => setImmediate(resolve));
      response.end();
    }
    expect(await settled).toBe(2);
  });
});
