import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { LocalDynamo } from '../../lib/adapters/stores/dynalite.ts';

interface Reply {
  readonly status: number;
  readonly body: string;
}

/** What happens to a request: pass it on with `forward`, answer something else, or `'drop'` the connection without an answer. */
export type Fault = (operation: string, body: string, forward: (body?: string) => Promise<Reply>) => Promise<Reply | 'drop'>;

export interface FaultProxy {
  readonly endpoint: string;
  /** Operations that arrived, in order. */
  readonly operations: string[];
  /** Applies to every request until it is replaced. */
  fault: Fault | undefined;
  close(): Promise<void>;
}

/** Stands between a client and the database and does to its requests what networks and a busy service do. */
export async function startFaultProxy(database: LocalDynamo): Promise<FaultProxy> {
  const server = createServer((incoming, outgoing) => void handle(incoming, outgoing));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const proxy: FaultProxy = {
    endpoint: `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`,
    operations: [],
    fault: undefined,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };

  async function handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const body = await read(incoming);
    const operation = String(incoming.headers['x-amz-target']).split('.').at(-1) ?? '';
    proxy.operations.push(operation);
    const forward = (changed = body): Promise<Reply> => send(database, incoming, changed);
    const reply = proxy.fault ? await proxy.fault(operation, body, forward) : await forward();
    if (reply === 'drop') {
      incoming.socket.destroy();
      return;
    }
    outgoing.writeHead(reply.status, { 'content-type': 'application/x-amz-json-1.0' });
    outgoing.end(reply.body);
  }
  return proxy;
}

async function send({ connection }: LocalDynamo, incoming: IncomingMessage, body: string): Promise<Reply> {
  const { host: _host, 'content-length': _length, ...headers } = incoming.headers;
  const url = new URL(connection.endpoint ?? '');
  const outgoing = request({
    method: 'POST',
    path: '/',
    headers: { ...headers, 'content-length': Buffer.byteLength(body) },
    ...(connection.socketPath === undefined ? { host: url.hostname, port: url.port } : { socketPath: connection.socketPath }),
  });
  outgoing.end(body);
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  return { status: response.statusCode ?? 0, body: await read(response) };
}

async function read(stream: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
