import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chromiumPath, launchChromium } from '../support/chromium.ts';
import { fakeEvents, fakeRun, fakeSuspension } from '../unit/api/fake-services.ts';
import { LOCAL_SECRET, startLocalServer } from '../unit/api/server.ts';

const BROWSER = chromiumPath();
const HOSTILE = '<img src=x onerror="document.title=\'owned\'"><script>document.title="owned"</script>"><svg onload=alert(1)>';

/** A real browser, since only one can say what it takes for code. Skipped where none is installed (CHROMIUM_PATH names one). */
describe.skipIf(BROWSER === undefined)('the console in a browser', () => {
  let fixture: Awaited<ReturnType<typeof startLocalServer>>;
  let browser: Browser;
  let page: Page;
  const run = fakeRun(1, {
    status: 'waiting',
    input: HOSTILE,
    answer: HOSTILE,
    error: { code: 'UNHANDLED', message: HOSTILE },
    plan: { next: 'suspend', suspensionId: `${fakeRun(1).runId}-3` },
  });
  const alarms: string[] = [];

  beforeAll(async () => {
    fixture = await startLocalServer();
    fixture.services.store.runs = [run];
    fixture.services.store.suspensions = [
      fakeSuspension(run, ['write_file'], {
        arguments: { [HOSTILE]: HOSTILE, list: [HOSTILE], long: 'line\n'.repeat(100) },
        reason: HOSTILE,
        tool: HOSTILE,
      }),
    ];
    fixture.services.store.events = fakeEvents(3).map((event) => ({
      ...event,
      data: { ...event.data, tool: HOSTILE, result_preview: HOSTILE, model: HOSTILE },
    }));
    browser = await launchChromium(BROWSER ?? '');
    page = await browser.newPage();
    page.on('dialog', (dialog) => dialog.dismiss().then(() => alarms.push(dialog.message())));
    page.on('pageerror', (error) => alarms.push(error.message));
    page.on('console', (message) => {
      if (/Content Security Policy|Trusted/.test(message.text())) alarms.push(message.text());
    });
  }, 60_000);
  afterAll(async () => {
    await browser?.close();
    await fixture?.server.close();
  });

  test('signs in by the link, whose key is gone from the address', async () => {
    await page.goto(`${fixture.server.url}/?key=${fixture.auth.ticket()}`);
    await page.waitForSelector('#runs a');
    expect(page.url()).toBe(`${fixture.server.url}/`);
    expect(await page.evaluate('document.cookie')).toBe('');
  });

  test('shows hostile text of models and tools as text', async () => {
    await page.goto(`${fixture.server.url}/#/runs/${run.runId}`);
    await page.waitForSelector('#events li');

    expect(await page.evaluate('document.querySelectorAll("img, main script, main svg").length')).toBe(0);
    expect(await page.locator('#events pre').first().textContent()).toBe(HOSTILE);
    expect(await page.locator('.approval pre').first().textContent()).toBe(HOSTILE);
    expect(await page.locator('.answer').last().textContent()).toBe(HOSTILE);
    // What has to be scrolled says how long it is, so that nobody approves the part that happens to be in view.
    expect(await page.locator('.approval dt').last().textContent()).toBe('long · 101 lines, 500 characters');
    expect(await page.title()).toBe('(1) Handrail');
    expect(alarms).toEqual([]);
  });

  test('keeps what a person types while it refreshes, and decides on a click', async () => {
    const refreshed = () => page.waitForResponse((response) => response.url().endsWith('/approvals'));
    await page.fill('.approval .reason', 'not this file');
    await refreshed();
    await refreshed();
    await page.click('.approval .danger');
    await page.waitForSelector('.approval', { state: 'detached' });

    expect(fixture.services.decided.map((request) => request.decisions)).toEqual([
      [{ approvalId: `${run.runId}-3.c3-0`, decision: 'reject', reason: 'not this file' }],
    ]);
  });

  test('starts a run from the form and shows it', async () => {
    await page.fill('#input', 'add up');
    await page.click('#composer button');
    await page.waitForURL(/#\/runs\/r-/);
    expect(fixture.services.started).toEqual([{ tenant: 'alpha', principal: 'local:owner', input: 'add up' }]);
  });

  test('asks for the secret where nobody has signed in', async () => {
    const stranger = await browser.newContext().then((context) => context.newPage());
    await stranger.goto(fixture.server.url);
    await stranger.fill('#secret', LOCAL_SECRET);
    await stranger.click('#sign-in button');
    await stranger.waitForSelector('#runs a');
    await stranger.context().close();
  });

  test('a page of another port of this host can neither read nor write with the cookie of who has signed in', async () => {
    const seen: (string | undefined)[] = [];
    const other = createServer((request, response) => {
      seen.push(request.headers.cookie);
      response.setHeader('content-type', 'text/html').end('<p>another program of this machine</p>');
    });
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    try {
      await page.goto(`http://127.0.0.1:${(other.address() as AddressInfo).port}/`);
      const attempt = (path: string, init: string) =>
        page.evaluate(`fetch(${JSON.stringify(fixture.server.url + path)}, ${init}).then((r) => r.type, () => 'refused')`);
      const before = [fixture.services.started.length, fixture.services.decided.length];
      const admitted: string[] = [];
      const arrived: string[] = [];
      const admit = fixture.auth.admit.bind(fixture.auth);
      fixture.auth.admit = (request, isPage) => {
        arrived.push(request.method);
        admit(request, isPage);
        admitted.push(request.method);
      };

      // The browser does send the cookie there and from there: ports are one site. Hence Origin, Sec-Fetch-Site and the content type.
      expect(seen[0]).toContain(`handrail-${fixture.server.port}=`);
      expect(await attempt('/runs', '{ credentials: "include" }')).toBe('refused');
      expect(await attempt('/runs', '{ mode: "no-cors", credentials: "include" }')).toMatch(/refused|opaque/);
      await attempt('/runs', '{ method: "POST", mode: "no-cors", credentials: "include", body: JSON.stringify({ input: "x" }) }');
      await attempt(
        '/runs',
        '{ method: "POST", credentials: "include", headers: { "content-type": "application/json" }, body: JSON.stringify({ input: "x" }) }',
      );

      expect([fixture.services.started.length, fixture.services.decided.length]).toEqual(before);
      expect([arrived.length >= 3, admitted]).toEqual([true, []]);
    } finally {
      other.close();
    }
  });
});
