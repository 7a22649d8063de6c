import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
import { type ConnectTo, connectAnywhere } from '../../lib/adapters/network/connect.ts';
import { exchange } from '../../lib/adapters/network/exchange.ts';
import { FETCH } from '../../lib/core/limits.ts';

export interface LoopbackServer {
  readonly port: number;
  readonly url: string;
  close(): Promise<void>;
}

/** An HTTP server on loopback. */
export async function httpServer(listener: RequestListener): Promise<LoopbackServer> {
  const server = createServer(listener);
  return { ...(await listen(server)), close: () => closing(server) };
}

/** Loopback below HTTP, for servers that do what no HTTP library would. `serve` is called once the request has begun to come in. */
async function rawServer(serve: (socket: Socket) => void): Promise<LoopbackServer> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    socket.once('data', () => serve(socket));
  });
  const close = async (): Promise<void> => {
    for (const socket of sockets) socket.destroy();
    await closing(server);
  };
  return { ...(await listen(server)), close };
}

/**
 * Stands where the internet would be: whatever address the check let through, the connection goes to a server on loopback,
 * without TLS. The check itself is the real one.
 */
export function connectToLoopback(port: () => number, dialled: (addresses: readonly string[]) => void = () => undefined): ConnectTo {
  return (addresses) => (_options, callback) => {
    dialled(addresses);
    const socket = connect(port(), '127.0.0.1');
    socket.once('connect', () => callback(null, socket)).once('error', (error) => callback(error, null));
  };
}

/** Fetches from a server that behaves badly below HTTP: the response or the error, once our side has closed the connection. */
export async function fetchRaw(serve: (socket: Socket) => void, signal: AbortSignal): Promise<unknown> {
  const closed = Promise.withResolvers<void>();
  const server = await rawServer((socket) => {
    socket.on('close', () => closed.resolve());
    serve(socket);
  });
  try {
    const request = {
      url: new URL(server.url),
      method: 'GET',
      headers: {},
      connector: connectAnywhere,
      signal,
      maxBytes: FETCH.bytes,
    } as const;
    const answer = await exchange(request).catch((error: unknown) => error);
    await closed.promise;
    return answer;
  } finally {
    await server.close();
  }
}

/** Writes `begin`, then `text` again and again for as long as the other side reads. */
export function pour(socket: Socket, begin: string, text: string): void {
  const more = (): void => {
    while (!socket.destroyed && socket.write(text));
  };
  socket.write(begin);
  socket.on('drain', more);
  more();
}

async function listen(server: Server | ReturnType<typeof createTcpServer>): Promise<{ port: number; url: string }> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { port, url: `http://127.0.0.1:${port}` };
}

async function closing(server: Server | ReturnType<typeof createTcpServer>): Promise<void> {
  if ('closeAllConnections' in server) server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}
