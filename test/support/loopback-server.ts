import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** `hang`: no answer at all. `drop`: the connection is closed without one. */
export type Reply = 'hang' | 'drop' | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string };

export interface LoopbackServer {
  readonly url: string;
  readonly received: Received[];
  close(): Promise<void>;
}

/** A server on this machine that notes every request and answers the n-th (from 1) as the test says. */
export async function loopbackServer(reply: (count: number, request: Received) => Reply): Promise<LoopbackServer> {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const noted = { method: request.method ?? '', path: request.url ?? '', headers: request.headers, body };
    received.push(noted);
    const answer = reply(received.length, noted);
    if (answer === 'hang') return;
    if (answer === 'drop') request.socket.destroy();
    else response.writeHead(answer.status, answer.headers).end(answer.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
