import { readFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { isPublicAddress } from '../../lib/adapters/network/public-address.ts';
import { createWebClient } from '../../lib/adapters/network/web-client.ts';
import { HandrailError } from '../../lib/core/errors.ts';
import { connectToLoopback, httpServer, type LoopbackServer } from '../support/web-server.ts';

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
type Row = z.infer<typeof rowSchema>;

const rows = readFileSync(join(import.meta.dirname, '../fixtures/vectors/ssrf.jsonl'), 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => rowSchema.parse(JSON.parse(line)));

/** Rows that are policy, and where ours is another. */
const OURS: Readonly<Record<string, string>> = {
  'ssrf-405': 'a rule that is written as a URL matches nothing, rather than being read as the host that may have been meant',
};

let server: LoopbackServer;
let redirect: { to: string; left: number } | undefined;
/** Connections that were begun by anything in this process, over TLS or not. */
let begun = 0;
const connectSocket = Socket.prototype.connect;
beforeAll(async () => {
  Socket.prototype.connect = function (this: Socket, ...args: unknown[]) {
    begun++;
    return Reflect.apply(connectSocket, this, args);
  };
  server = await httpServer((_request, response) => {
    if (redirect === undefined || redirect.left === 0) return response.end('reached');
    redirect.left--;
    // As it is in the row: control characters too, which `writeHead` would refuse.
    response.socket?.end(`HTTP/1.1 302 Found\r\nlocation: ${redirect.to.replace(/[\r\n]/g, '')}\r\nconnection: close\r\n\r\n`);
    return response;
  });
});
beforeEach(() => {
  begun = 0;
});
afterAll(async () => {
  Socket.prototype.connect = connectSocket;
  await server.close();
});

interface Outcome {
  readonly reached: boolean;
  readonly code?: string;
  /** Addresses of each connection. */
  readonly dialled: readonly (readonly string[])[];
  readonly lookedUp: readonly string[];
}

async function run(row: Row): Promise<Outcome> {
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
    return { reached: Buffer.from(body).toString() === 'reached', dialled, lookedUp };
  } catch (error) {
    if (!(error instanceof HandrailError)) throw error;
    return { reached: false, code: error.code, dialled, lookedUp };
  }
}

/** A name whose first answer is public and whose next is not: what counts is that the next is never asked for. */
const rebinds = (row: Row): boolean => Object.values(row.dns).some((answers) => answers.length > 1 && answers[0]?.every(isPublicAddress));

describe('every row', () => {
  test.each(rows.map((row) => [row.id, row.class, row] as const))('%s %s', async (id, _class, row) => {
    const outcome = await run(row);
    expect(outcome.dialled.flat().filter((address) => !isPublicAddress(address))).toEqual([]);
    // Whatever opens a connection ends up here: there is no other way to the network than the one that was recorded.
    expect(begun).toBe(outcome.dialled.length);
    expect(outcome.lookedUp.length).toBeLessThanOrEqual(6);
    if (row.policy === 'allowlist') {
      const listed = (host: string) => row.allow.some((rule) => (rule.startsWith('*.') ? host.endsWith(rule.slice(1)) : host === rule));
      expect(outcome.lookedUp.filter((host) => !listed(host))).toEqual([]);
    }
    if (row.expect === 'deny' && rebinds(row)) {
      expect(new Set(outcome.lookedUp).size, 'each name is asked once').toBe(outcome.lookedUp.length);
    } else if (OURS[id] === undefined) {
      expect({ id, reached: outcome.reached, code: outcome.code }).toMatchObject({ id, reached: row.expect === 'allow' });
      if (row.expect === 'deny' && row.redirect_to === undefined) expect(begun).toBe(0);
    } else {
      expect(row.firm).toBe(false);
      expect(outcome.reached).toBe(false);
    }
  });

  test('every refusal is one that the model can tell from a failure', async () => {
    const codes = new Set<string>();
    for (const row of rows.filter((candidate) => candidate.expect === 'deny')) codes.add((await run(row)).code ?? 'reached');
    expect([...codes].filter((code) => !['PERMISSION_DENIED', 'INVALID_ARGUMENTS', 'NETWORK_ERROR', 'reached'].includes(code))).toEqual([]);
  });
});
