import { readFile } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type WebhookOptions, webhookChannel } from '../../../lib/adapters/notices/webhook.ts';
import { type LoopbackServer, loopbackServer, type Received, type Reply } from '../../support/loopback-server.ts';
import { seededRandom, TestClock } from '../../support/time.ts';
import { hostileNotice, LINK, newNotice } from './samples.ts';

const SECRET = 'the-signing-secret';
const OK: Reply = { status: 200, body: 'ok' };
let server: LoopbackServer;
let clock: TestClock;
afterEach(() => server.close());

async function channel(replies: readonly Reply[], options: Partial<WebhookOptions> = {}) {
  server = await loopbackServer((count) => replies[Math.min(count, replies.length) - 1] ?? OK);
  clock = new TestClock();
  return webhookChannel({
    url: async () => `${server.url}/hook/of-ours`,
    secret: async () => SECRET,
    format: 'slack',
    clock,
    random: seededRandom(),
    timeoutMs: 300,
    ...options,
  });
}
const bodies = () => server.received.map(({ body }) => JSON.parse(body));

/** The sample of docs/approvals.md, as receivers will copy it. */
type Check = (headers: IncomingHttpHeaders, rawBody: string, secret: string, now: number) => boolean;
let isFromHandrail: Check;
beforeAll(async () => {
  const text = await readFile(new URL('../../../docs/approvals.md', import.meta.url), 'utf8');
  const [, sample = ''] = /```js\n(.*?)```/s.exec(text) ?? [];
  const module: { isFromHandrail: Check } = await import(`data:text/javascript;base64,${Buffer.from(sample).toString('base64')}`);
  isFromHandrail = module.isFromHandrail;
});
const isOurs = ({ headers, body }: Pick<Received, 'headers' | 'body'>, secret: string, now: number) =>
  isFromHandrail(headers, body, secret, now);

describe('the webhook', () => {
  it('is sent a message that Slack shows, with the link as text and as a button', async () => {
    await (await channel([OK])).send(newNotice());

    expect(server.received).toMatchObject([
      { method: 'POST', path: '/hook/of-ours', headers: { 'content-type': 'application/json; charset=utf-8' } },
    ]);
    const [message] = bodies();
    expect(Object.keys(message).sort()).toEqual(['blocks', 'text']);
    expect(message.text).toBe(`write_file needs your decision: ${LINK}`);
    expect(JSON.stringify(message.blocks)).toContain(`"url":"${LINK}"`);
    expect(JSON.stringify(message.blocks)).toContain('tool_policy: write_file is confirm');
    expect(message.blocks.length).toBeLessThan(50);
  });

  it('is sent the notice as it is where the format is json', async () => {
    await (await channel([OK], { format: 'json' })).send(newNotice());
    expect(bodies()).toEqual([{ type: 'approval.requested', ...newNotice() }]);
  });

  it('can tell that a request is ours, whole and fresh', async () => {
    await (await channel([OK])).send(newNotice());
    const [request] = server.received;
    if (!request) throw new Error('nothing came');
    expect(isOurs(request, SECRET, clock.now())).toBe(true);
    expect(isOurs(request, 'another-secret', clock.now())).toBe(false);
    expect(isOurs({ ...request, body: request.body.replace('write_file', 'read_file') }, SECRET, clock.now())).toBe(false);
    expect(isOurs(request, SECRET, clock.now() + 600_000)).toBe(false);
    const replayed = { ...request, headers: { ...request.headers, 'x-handrail-timestamp': String(clock.now() / 1000 + 600) } };
    expect(isOurs(replayed, SECRET, clock.now() + 600_000)).toBe(false);
  });

  it('is sent no signature without a secret', async () => {
    await (await channel([OK], { secret: async () => undefined })).send(newNotice());
    expect(Object.keys(server.received[0]?.headers ?? {}).filter((name) => name.startsWith('x-handrail'))).toEqual([]);
  });

  it.each<[string, readonly Reply[]]>([
    ['503 and 429', [{ status: 503 }, { status: 429 }, OK]],
    ['a connection that is closed', ['drop', OK]],
    ['no answer in time', ['hang', OK]],
  ])('is tried again after %s, with a pause between and a signature of its own', async (_what, replies) => {
    const hook = await channel(replies);
    const before = clock.now();
    await hook.send(newNotice());

    expect(server.received).toHaveLength(replies.length);
    expect(clock.now() - before).toBeGreaterThanOrEqual(250);
    for (const request of server.received) expect(isOurs(request, SECRET, clock.now())).toBe(true);
  });

  it.each<[string, Reply, number]>([
    ['always 500', { status: 500 }, 3],
    ['never an answer', 'hang', 3],
    ['400', { status: 400, body: 'invalid_payload' }, 1],
    ['404', { status: 404 }, 1],
    ['a redirect to elsewhere', { status: 307, headers: { location: 'http://127.0.0.1:1/stolen' } }, 1],
  ])('is given up after %s, and the error tells neither the address nor the link', async (_what, reply, attempts) => {
    const hook = await channel([reply]);
    const error = await hook.send(newNotice()).catch((thrown: unknown) => thrown);

    expect(error).toMatchObject({ code: 'NETWORK_ERROR' });
    expect(String(error)).not.toMatch(/of-ours|127\.0\.0\.1|decide\.example/);
    expect(server.received).toHaveLength(attempts);
  });

  it('is given up where nobody listens', async () => {
    const hook = await channel([OK], { url: async () => 'http://127.0.0.1:1/of-ours' });
    const error = await hook.send(newNotice()).catch((thrown: unknown) => thrown);
    expect(String(error)).toMatch(/could not be reached/);
    expect(JSON.stringify(error, ['message', 'stack', 'cause'])).not.toContain('of-ours');
  });

  it('shows what a model wrote as text: no mention, no link, no line of its own, nothing turned round', async () => {
    await (await channel([OK])).send(hostileNotice());
    const [{ body = '' } = {}] = server.received;
    expect(body).not.toMatch(/<[!@#h]|\u202e|\\nSubject/);
    expect(body).toContain('&lt;!channel&gt;');
    expect(body).toContain('\\\\u{202e}exe.md Second line Subject: x');
  });

  it('shows five calls and counts the others', async () => {
    const { approvals } = newNotice();
    await (await channel([OK])).send(newNotice({ approvals: Array.from({ length: 128 }, () => approvals).flat() }));
    expect(bodies()[0].text).toContain('128 calls need your decision');
    expect(JSON.stringify(bodies()[0].blocks)).toContain('and 123 more');
    expect(bodies()[0].blocks.length).toBeLessThan(50);
  });
});
