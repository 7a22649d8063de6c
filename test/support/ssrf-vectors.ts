import { readFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import * as z from 'zod';
import { isPublicAddress } from '../../lib/adapters/network/public-address.ts';
import { createWebClient } from '../../lib/adapters/network/web-client.ts';
import { HandrailError } from '../../lib/core/errors.ts';
import { connectToLoopback, httpServer } from './web-server.ts';

const rowSchema = z.object({
  id: z.string(),
  class: z.string(),
  url: z.string(),
  expect: z.enum(['allow', 'deny']),
  policy: z.enum(['open', 'allowlist']),
  allow: z.array(z.string()).default([]),
  dns: z.record(z.string(), z.array(z.array(z.string()))).default({}),
  redirect_to: z.string().optional(),
  hops: z.number().default(1),
  firm: z.boolean(),
  why: z.string(),
});
export type SsrfRow = z.infer<typeof rowSchema>;

export const ssrfRows: readonly SsrfRow[] = readFileSync(join(import.meta.dirname, '../fixtures/vectors/ssrf.jsonl'), 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => rowSchema.parse(JSON.parse(line)));

/** Rows that are policy, where ours is another. */
const OURS: Readonly<Record<string, string>> = {
  'ssrf-405': 'a rule that is written as a URL matches nothing, rather than being read as the host that may have been meant',
};

export interface SsrfOutcome {
  readonly reached: boolean;
  readonly code?: string;
  /** Addresses that each connection was allowed. */
  readonly dialled: readonly (readonly string[])[];
  readonly lookedUp: readonly string[];
  /** Connections that were begun by anything in this process, over TLS or not. */
  readonly begun: number;
}

/**
 * Fetches the URLs of rows with their names and redirects, through the real checks; what they let through ends at a server
 * on loopback. Every connection of the process is counted at the socket.
 */
export async function ssrfRig(): Promise<{ run(row: SsrfRow): Promise<SsrfOutcome>; close(): Promise<void> }> {
  let begun = 0;
  let redirect: { to: string; left: number } | undefined;
  const connectSocket = Reflect.get(Socket.prototype, 'connect');
  Socket.prototype.connect = function (this: Socket, ...args: unknown[]) {
    begun++;
    return Reflect.apply(connectSocket, this, args);
  };
  const server = await httpServer((_request, response) => {
    if (redirect === undefined || redirect.left === 0) return response.end('reached');
    redirect.left--;
    // Below HTTP, since `writeHead` would refuse some of these.
    response.socket?.end(`HTTP/1.1 302 Found\r\nlocation: ${redirect.to.replace(/[\r\n]/g, '')}\r\nconnection: close\r\n\r\n`);
    return response;
  });
  return {
    async run(row) {
      begun = 0;
      redirect = row.redirect_to === undefined ? undefined : { to: row.redirect_to, left: row.hops };
      const dialled: (readonly string[])[] = [];
      const lookedUp: string[] = [];
      const client = createWebClient({
        policy: { allowedDomains: row.policy === 'open' ? ['*'] : row.allow },
        userAgent: 'test',
        resolve: async (host) => {
          const asked = lookedUp.filter((name) => name === host).length;
          lookedUp.push(host);
          const answers = Object.hasOwn(row.dns, host) ? (row.dns[host] ?? []) : [];
          return answers[Math.min(asked, answers.length - 1)] ?? [];
        },
        connectTo: connectToLoopback(
          () => server.port,
          (addresses) => dialled.push(addresses),
        ),
      });
      try {
        const { body } = await client.fetch({ url: row.url, accept: '*/*', signal: AbortSignal.timeout(5_000) });
        return { reached: Buffer.from(body).toString() === 'reached', dialled, lookedUp, begun };
      } catch (error) {
        if (!(error instanceof HandrailError)) throw error;
        return { reached: false, code: error.code, dialled, lookedUp, begun };
      }
    },
    async close() {
      Socket.prototype.connect = connectSocket;
      await server.close();
    },
  };
}

/** What an outcome does wrong; an empty list = nothing. */
export function ssrfFaults(row: SsrfRow, { reached, dialled, lookedUp, begun }: SsrfOutcome): string[] {
  const faults: string[] = [];
  const check = (holds: boolean, fault: string): void => void (holds || faults.push(fault));
  check(dialled.flat().every(isPublicAddress), 'an address was let through that is not public');
  check(begun === dialled.length, 'a connection was begun past the check');
  check(lookedUp.length <= 6, 'more hops than allowed were looked up');
  if (row.policy === 'allowlist')
    check(
      lookedUp.every((host) => isListed(row, host)),
      'a host was looked up that is not listed',
    );
  if (row.expect === 'deny' && rebinds(row)) {
    check(new Set(lookedUp).size === lookedUp.length, 'a name was looked up twice');
    return faults;
  }
  if (row.expect === 'deny' && row.redirect_to === undefined) check(begun === 0, 'a connection was begun');
  const expected = OURS[row.id] === undefined ? row.expect === 'allow' : false;
  check(reached === expected, reached ? 'it was reached' : 'it was not reached');
  check(OURS[row.id] === undefined || !row.firm, 'a firm row is not a matter of policy');
  return faults;
}

const isListed = ({ allow }: SsrfRow, host: string): boolean =>
  allow.some((rule) => (rule.startsWith('*.') ? host.endsWith(rule.slice(1)) : host === rule));

/** A name whose first answer is public and whose next is not: what counts is that the next is never asked for. */
const rebinds = (row: SsrfRow): boolean =>
  Object.values(row.dns).some((answers) => answers.length > 1 && answers[0]?.every(isPublicAddress) === true);
