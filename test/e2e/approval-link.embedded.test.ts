import { createHmac } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Logger } from '../../lib/core/ports/logger.ts';
import type { Notice } from '../../lib/core/ports/notices.ts';
import { type LocalRuntime, startLocal } from '../../lib/runtime/local.ts';
import { chromiumPath, launchChromium } from '../support/chromium.ts';
import { type LoopbackServer, loopbackServer } from '../support/loopback-server.ts';
import { apiClient } from './api-client.ts';
import { localOptions } from './embedded-runner.ts';

const SECRET = 'signing-secret-of-the-suite';

/** From the notice that a webhook gets to the end of the run, over HTTP, with nothing but the link. */
describe('a link from a notice', () => {
  let directory: string;
  let hook: LoopbackServer;
  let runtime: LocalRuntime;
  const told: Notice[] = [];
  const logged: string[] = [];
  const log = (...line: unknown[]) =>
    void logged.push(
      JSON.stringify(line, (_key, value) => (value instanceof Error ? `${value.stack ?? ''} ${String(value.cause)}` : value)),
    );
  const logger: Logger = { debug: log, info: log, warn: log, error: log };

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'handrail-link-'));
    // Down at first, as a webhook is when it is needed.
    hook = await loopbackServer((count) => ({ status: count === 1 ? 503 : 200 }));
    const options = await localOptions(directory);
    const notices = { ...options.config.notices, webhook: { url: hook.url, signing_secret: 'any/name', format: 'json' as const } };
    runtime = await startLocal({
      ...options,
      logger,
      config: { ...options.config, notices },
      environment: { HANDRAIL_WEBHOOK_SECRET: SECRET },
      onNotice: (notice) => told.push(notice),
    });
  });
  afterAll(async () => {
    await runtime?.close();
    await hook?.close();
    await rm(directory, { recursive: true, force: true });
  });

  const api = () => apiClient({ url: runtime.url, authorization: `Bearer ${runtime.secret}` });
  /** A run that waits, and its notice as the webhook got it. */
  const asked = async (scenario: string): Promise<{ runId: string; notice: Notice }> => {
    const runId = await api().start(scenario);
    const notice = await api().until(`the notice of ${runId}`, async () => {
      const bodies = hook.received.map(({ body }): Notice => JSON.parse(body));
      return bodies.findLast((body) => body.runId === runId && told.some(({ link }) => link === body.link));
    });
    return { runId, notice };
  };
  const post = (link: string, fields: Record<string, string>) => {
    const { origin, pathname, searchParams } = new URL(link);
    return fetch(`${origin}${pathname}`, {
      method: 'POST',
      redirect: 'manual',
      body: new URLSearchParams({ t: searchParams.get('t') ?? '', ...fields }),
    });
  };

  it('comes signed, is tried again until it arrives, and leads to a page that decides', async () => {
    const { runId, notice } = await asked('scenario-write');

    const [first, second] = await api().until('the second try', async () => (hook.received.length > 1 ? hook.received : undefined));
    expect(first?.body).toBe(second?.body);
    for (const { headers, body } of hook.received)
      expect(headers['x-handrail-signature']).toBe(
        `v1=${createHmac('sha256', SECRET)
          .update(`${String(headers['x-handrail-timestamp'])}.${body}`)
          .digest('hex')}`,
      );
    const shown = await fetch(notice.link);
    expect([shown.status, (await shown.text()).includes('May write_file run?')]).toEqual([200, true]);
    const [approval] = notice.approvals;
    const answer = await post(notice.link, { do: `approve:${approval?.approvalId.split('.')[1]}` });
    expect(answer.status).toBe(303);
    expect(await api().ended(runId)).toMatchObject({ status: 'succeeded', effects: { 'fs.write': 1 } });
    expect(await (await fetch(notice.link)).text()).toContain('write_file was approved');
    const decided = (await api().call('GET', `/approvals/${approval?.approvalId}`)).body;
    expect(decided).toMatchObject({ status: 'approved', decision: { how: 'page', by: expect.stringMatching(/^link:[0-9a-f]{8}$/) } });
  });

  it('of another run opens nothing here', async () => {
    const [one, other] = [await asked('scenario-write'), await asked('scenario-write')];
    const mixed = new URL(one.notice.link);
    mixed.searchParams.set('t', new URL(other.notice.link).searchParams.get('t') ?? '');
    expect((await fetch(mixed)).status).toBe(404);
    for (const { runId } of [one, other]) await api().call('POST', `/runs/${runId}/cancel`, {});
    for (const { runId } of [one, other]) expect(await api().ended(runId)).toMatchObject({ status: 'cancelled' });
    expect(await (await fetch(one.notice.link)).text()).toContain('Nobody needs to decide any more');
    expect((await post(one.notice.link, { do: `approve:${one.notice.approvals[0]?.approvalId.split('.')[1]}` })).status).toBe(409);
  });

  it('is locked after twenty wrong ones', async () => {
    const { runId, notice } = await asked('scenario-write');
    const wrong = new URL(notice.link);
    wrong.searchParams.set('t', 'f'.repeat(64));
    const statuses = [];
    for (let n = 0; n < 21; n++) statuses.push((await fetch(wrong)).status);
    expect(statuses).toEqual([...Array(20).fill(404), 429]);
    expect((await fetch(notice.link)).status).toBe(429);
    await api().call('POST', `/runs/${runId}/cancel`, {});
    await api().ended(runId);
  });

  it.skipIf(chromiumPath() === undefined)('is opened in Chromium, where the arguments are changed, and the changed ones run', async () => {
    const { runId, notice } = await asked('scenario-write');
    const browser = await launchChromium(chromiumPath() ?? '');
    const page = await browser.newPage({ javaScriptEnabled: false });
    await page.goto(notice.link);
    await page.getByText('Change the arguments first').click();
    await page.getByLabel('Arguments, as JSON').fill('{ "path": "../../etc/passwd", "content": 7 }');
    await page.getByRole('button', { name: 'Approve with these arguments' }).click();
    expect(await page.getByRole('alert').textContent()).toContain('write_file would refuse them');
    await page.getByLabel('Arguments, as JSON').fill('{ "path": "by-a-person.md", "content": "# Changed" }');
    await page.getByRole('button', { name: 'Approve with these arguments' }).click();
    expect(await page.locator('h1').textContent()).toBe('write_file was approved');
    expect(await page.locator('body').textContent()).toContain('Approved with other arguments');
    await browser.close();

    const run = await api().ended(runId);
    expect(run.status).toBe('succeeded');
    expect(run.answer).toContain('by-a-person.md');
  });

  it('never stands in the log', () => {
    const tokens = told.map(({ link }) => new URL(link).searchParams.get('t') ?? '');
    expect(tokens.length).toBeGreaterThan(3);
    for (const token of tokens) expect(logged.join('\n')).not.toContain(token);
  });
});
