import { EventEmitter } from 'node:events';
import type { Server } from 'node:http';
import type { DirectHandler } from './dynamodb/client.ts';

export interface DirectConnection {
  readonly handler: DirectHandler;
  /** Resolves when every request that was begun has been answered. */
  idle(): Promise<void>;
}

type Request = Parameters<DirectHandler['handle']>[0];
type Response = Awaited<ReturnType<DirectHandler['handle']>>['response'];

/** The server looks that a signature is there and never at what it says. */
const UNSIGNED = {
  authorization: 'AWS4-HMAC-SHA256 Credential=local, SignedHeaders=host, Signature=none',
  'x-amz-date': 'none',
};

/**
 * Asks a server of this process by its `request` event, without connection, signature and HTTP: those took more than
 * half of a request's time. Whoever asks shares its memory anyway.
 */
export function connectDirectly(server: Server): DirectConnection {
  const pending = new Set<Promise<unknown>>();
  return {
    handler: {
      metadata: { handlerProtocol: 'in-process' },
      async handle(request: Request) {
        const answer = ask(server, request);
        pending.add(answer);
        try {
          return { response: await answer };
        } finally {
          pending.delete(answer);
        }
      },
      updateHttpClientConfig() {},
      httpHandlerConfigs: () => ({}),
    },
    async idle() {
      while (pending.size > 0) await Promise.allSettled(pending);
    },
  };
}

function ask(server: Server, { method, path, headers, body }: Request): Promise<Response> {
  return new Promise((resolve) => {
    const received: Record<string, string> = {};
    const incoming = Object.assign(new EventEmitter(), { method, url: path, headers: { ...headers, ...UNSIGNED } });
    const outgoing = {
      statusCode: 200,
      setHeader(name: string, value: unknown) {
        received[name.toLowerCase()] = String(value);
      },
      end(text = '') {
        resolve({ statusCode: outgoing.statusCode, headers: received, body: Buffer.from(text) });
      },
    };
    server.emit('request', incoming, outgoing);
    incoming.emit('data', typeof body === 'string' ? Buffer.from(body) : Buffer.from(body.buffer, body.byteOffset, body.byteLength));
    incoming.emit('end');
  });
}
