import { createServer, type Server, STATUS_CODES } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { HandrailError } from '../core/errors.ts';
import { silentLogger } from '../core/ports/logger.ts';
import type { App } from './app.ts';
import { HttpError, problemResponse } from './problem.ts';

export interface ServeOptions {
  /** 0 = any free one. */
  readonly port: number;
  /** @default 127.0.0.1: nobody on the network can reach a laptop's server. */
  readonly host?: string;
}

export interface RunningServer {
  readonly port: number;
  readonly url: string;
  /** Takes no new requests, lets those under way end, then drops what is left after `graceMs` (default 2000). */
  close(graceMs?: number): Promise<void>;
}

/** Serves the app on Node's own HTTP server. Errors: CONFLICT when the port is in use. */
export async function serve(app: App, options: ServeOptions): Promise<RunningServer> {
  const host = options.host ?? '127.0.0.1';
  const server = createServer(
    getRequestListener((request, env) => app.fetch(request, env), {
      overrideGlobalObjects: false,
      errorHandler: (cause) =>
        problemResponse(new HttpError('BAD_REQUEST', 'the request line or the Host header is not valid', { cause }), silentLogger),
    }),
  );
  server.on('clientError', answerBrokenRequest);
  await listen(server, options.port, host);
  const { port } = server.address() as AddressInfo;
  return { port, url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`, close: (graceMs = 2_000) => close(server, graceMs) };
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) =>
      reject(
        cause.code === 'EADDRINUSE'
          ? new HandrailError(
              'CONFLICT',
              `port ${port} is in use; choose another one with HANDRAIL_PORT, for example HANDRAIL_PORT=${port + 1}`,
              { cause, field: 'port' },
            )
          : cause,
      ),
    );
    server.listen(port, host, resolve);
  });
}

function close(server: Server, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => server.closeAllConnections(), graceMs);
    server.close(() => {
      clearTimeout(timer);
      resolve();
    });
    server.closeIdleConnections();
  });
}

/** What Node could not read as HTTP never reaches the app; it is answered in the same form. */
function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const status = error.code === 'HPE_HEADER_OVERFLOW' ? 431 : error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
  const detail = status === 431 ? 'the headers are too large' : status === 408 ? 'the request took too long' : 'this is not HTTP';
  const body = JSON.stringify({ type: 'urn:handrail:problem:BAD_REQUEST', title: 'Bad request', status, detail, code: 'BAD_REQUEST' });
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/problem+json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
      `X-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n${body}`,
  );
}
