import { request as httpRequest } from 'node:http';
import { createApp } from '../../../lib/api/app.ts';
import { bearerAuth } from '../../../lib/api/auth/bearer.ts';
import { type LocalAuth, localAuth } from '../../../lib/api/auth/local.ts';
import { type RunningServer, serve } from '../../../lib/api/node-server.ts';
import { everyPermission, type Permission } from '../../../lib/api/principal.ts';
import { type FakeServices, fakeServices } from './fake-services.ts';

/** Secrets of two tenants, and of people of the first who may do only one thing each. */
export const SECRETS = {
  alpha: 'alpha-secret-0123456789',
  beta: 'beta-secret-0123456789',
  run: 'run-only-secret-0123456789',
  read: 'read-only-secret-0123456789',
  approve: 'approve-only-secret-0123456789',
  delete: 'delete-only-secret-0123456789',
} as const;

const only = (permission: Permission) => ({ tenant: 'alpha', principal: `alpha:${permission}`, permissions: new Set([permission]) });

export interface TestServer {
  readonly server: RunningServer;
  readonly services: FakeServices;
  readonly auth: LocalAuth | undefined;
}

export async function startBearerServer(): Promise<TestServer> {
  const services = fakeServices();
  const auth = bearerAuth([
    { secret: SECRETS.alpha, principal: { tenant: 'alpha', principal: 'alpha:owner', permissions: everyPermission } },
    { secret: SECRETS.beta, principal: { tenant: 'beta', principal: 'beta:owner', permissions: everyPermission } },
    { secret: SECRETS.run, principal: only('run') },
    { secret: SECRETS.read, principal: only('read') },
    { secret: SECRETS.approve, principal: only('approve') },
    { secret: SECRETS.delete, principal: only('delete') },
  ]);
  return { services, auth: undefined, server: await serve(createApp(services, { auth }), { port: 0 }) };
}

export const LOCAL_SECRET = 'a-laptop-secret-of-32-characters';

export async function startLocalServer(): Promise<TestServer & { auth: LocalAuth }> {
  const services = fakeServices();
  let port = 0;
  const auth = localAuth({ secret: LOCAL_SECRET, port: () => port, tenant: 'alpha' });
  const server = await serve(createApp(services, { auth }), { port: 0 });
  port = server.port;
  return { services, auth, server };
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly body: string;
}

/** Sends headers as they are, also those that `fetch` would not let a caller choose (Host, Origin, Cookie, Sec-Fetch-*). */
export function send(
  port: number,
  method: string,
  path: string,
  headers: Record<string, string> | string[] = {},
  body?: string | Buffer,
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const request = httpRequest({ host: '127.0.0.1', port, method, path, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks).toString('utf8') }),
      );
      response.on('error', reject);
    });
    request.on('error', reject);
    request.end(body);
  });
}

export const jsonHeaders = (secret: string): Record<string, string> => ({
  authorization: `Bearer ${secret}`,
  'content-type': 'application/json',
});
