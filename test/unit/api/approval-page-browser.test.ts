import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { REPORT, SECRET, type ViewName, views } from '../../support/approval-views.ts';
import { chromiumPath, launchChromium } from '../../support/chromium.ts';
import { INSPECT, inspectionSchema } from '../../support/inspect-page.ts';
import { TOKEN } from './fake-services.ts';
import { startLocalServer } from './server.ts';

const path = chromiumPath();
const SCREENS = { phone: { width: 360, height: 740 }, desktop: { width: 1280, height: 900 } } as const;
/** A directory: pictures of every view are put there, to be looked at. They take most of the time, so by default none is. */
const pictures = process.env['HANDRAIL_SCREENSHOTS'];

describe.skipIf(path === undefined)('the approval page in Chromium (skipped where none is installed)', () => {
  let browser: Browser;
  let fixture: Awaited<ReturnType<typeof startLocalServer>>;
  let page: Page;
  /** What the browser complained about, and requests to anywhere else. */
  let complaints: string[];

  beforeAll(async () => {
    [browser, fixture] = await Promise.all([launchChromium(path ?? ''), startLocalServer()]);
  });
  afterAll(async () => {
    await browser?.close();
    await fixture?.server.close();
  });
  beforeEach(async () => {
    complaints = [];
    // Without script: everything must work so.
    page = await browser.newPage({ javaScriptEnabled: false, viewport: SCREENS.phone });
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type()) && !message.text().includes('status of 4')) complaints.push(message.text());
    });
    page.on('request', (request) => {
      if (!request.url().startsWith(fixture.server.url) && !request.url().startsWith('data:')) complaints.push(request.url());
    });
  });
  afterEach(async () => {
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  /** Puts a view into the store; the address of its page. */
  const lay = (name: ViewName): string => {
    const { suspension, run, events } = views[name]();
    fixture.services.store.suspensions = [suspension];
    fixture.services.store.runs = [run];
    fixture.services.store.events = [...events];
    fixture.services.decided.length = 0;
    return `${fixture.server.url}/a/${suspension.suspensionId}?t=${TOKEN}`;
  };
  const decided = () => fixture.services.decided.flatMap(({ decisions }) => decisions);
  const idOf = (callId: string) => `${fixture.services.store.suspensions[0]?.suspensionId}.${callId}`;
  const title = () => page.locator('h1').textContent();
  const press = (name: string, at = 0) => page.getByRole('button', { name, exact: true }).nth(at).click();
  const picture = async (name: string) => {
    if (pictures !== undefined) await page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true });
  };

  test.each([...(Object.keys(views) as ViewName[]), 'absent' as const])(
    'shows the view "%s" whole, readable and in reach of a finger',
    async (name) => {
      await page.goto(name === 'absent' ? `${fixture.server.url}/a/nothing?t=${TOKEN}` : lay(name));
      for (const [screen, viewport] of Object.entries(SCREENS)) {
        await page.setViewportSize(viewport);
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme });
          await picture(`${name}-${screen}-${colorScheme}`);
          const found = inspectionSchema.parse(await page.evaluate(INSPECT));
          expect({ screen, colorScheme, ...found }).toEqual({ screen, colorScheme, overflow: [], faint: [], unnamed: [], small: [] });
        }
      }
      expect(await title()).toMatch(name === 'absent' ? /This link opens nothing/ : views[name]().title);
    },
  );

  test('approves by one press and shows that it did', async () => {
    await page.goto(lay('one'));
    await press('Approve');

    expect(decided()).toEqual([{ approvalId: idOf('c3-0'), decision: 'approve' }]);
    expect(fixture.services.decided[0]).toMatchObject({ tenant: 'alpha', principal: 'link:0123abcd', how: 'page' });
    expect(await title()).toBe('write_file was approved');
    await page.reload();
    expect(decided()).toHaveLength(1);
  });

  test('rejects with the reason that was typed', async () => {
    await page.goto(lay('one'));
    await page.getByLabel('Reason').fill('Not today.\nAsk again tomorrow.');
    await press('Reject');

    expect(decided()).toEqual([{ approvalId: idOf('c3-0'), decision: 'reject', reason: 'Not today.\nAsk again tomorrow.' }]);
    expect(await title()).toBe('write_file was rejected');
  });

  test('takes changed arguments, says what is wrong with broken ones and keeps them', async () => {
    await page.goto(lay('one'));
    await page.getByText('Change the arguments first').click();
    const editor = page.getByLabel('Arguments, as JSON');
    expect(JSON.parse(await editor.inputValue())).toMatchObject({ path: 'report.md', content: REPORT });
    await editor.fill('{ "path": "drafts/report.md",\n  "content": }');
    await page.getByLabel('Reason').fill('drafts only');
    await press('Approve with these arguments');

    expect(decided()).toEqual([]);
    await picture('broken-phone-light');
    expect(await page.getByRole('alert').textContent()).toContain(`This is not valid JSON: unexpected token '}'`);
    expect(await editor.inputValue()).toContain('"content": }');
    expect(await editor.getAttribute('aria-invalid')).toBe('true');
    await editor.fill('{ "path": "drafts/report.md", "content": "short" }');
    await press('Approve with these arguments');

    expect(decided()).toEqual([
      { approvalId: idOf('c3-0'), decision: 'approve', reason: 'drafts only', arguments: { path: 'drafts/report.md', content: 'short' } },
    ]);
  });

  test('does not let a change be lost by the wrong button', async () => {
    await page.goto(lay('one'));
    await page.getByText('Change the arguments first').click();
    await page.getByLabel('Arguments, as JSON').fill('{ "path": "elsewhere.md", "content": "" }');
    await press('Approve');

    expect(decided()).toEqual([]);
    expect(await page.getByRole('alert').textContent()).toContain('You changed the arguments');
  });

  test('gives a masked secret back to the tool, and never shows it', async () => {
    await page.goto(lay('several'));
    expect(await page.content()).not.toMatch(new RegExp(`${SECRET}|hunter2`));
    await page.getByText('Change the arguments first').nth(1).click();
    const editor = page.getByLabel('Arguments, as JSON').nth(1);
    await editor.fill((await editor.inputValue()).replace('Q2 <b>report</b>', 'Q2'));
    await press('Approve with these arguments');

    expect(decided()).toMatchObject([
      { arguments: { subject: 'Q2', api_key: 'hunter2hunter2', header: `Bearer ${SECRET}`, note: expect.stringContaining('\u202e') } },
    ]);
  });

  test('answers a question in words, and by a choice', async () => {
    await page.goto(lay('question'));
    await page.getByLabel('Your answer').fill('  the net one ');
    await press('Send the answer');
    expect(decided()).toEqual([{ approvalId: idOf('c3-0'), decision: 'answer', answer: '  the net one ' }]);

    await page.goto(lay('choices'));
    await press('both, in two columns');
    expect(decided()).toEqual([{ approvalId: idOf('c3-0'), decision: 'answer', answer: 'both, in two columns' }]);
  });

  test('decides one of several and keeps what was typed for the others', async () => {
    await page.goto(lay('several'));
    await page.getByLabel('Your answer').fill('half an answer');
    await page.getByLabel('Reason').nth(1).fill('half a reason');
    await press('Approve this call', 0);

    expect(decided()).toEqual([{ approvalId: idOf('c3-0'), decision: 'approve' }]);
    await picture('rest-phone-light');
    expect(await title()).toBe('2 decisions are waiting for you');
    expect(await page.getByLabel('Your answer').inputValue()).toBe('half an answer');
    await press('Send the answer');
    expect(decided().at(-1)).toEqual({ approvalId: idOf('c3-2'), decision: 'answer', answer: 'half an answer' });
    expect(await page.getByLabel('Reason').inputValue()).toBe('half a reason');
  });

  test('decides all calls at once, but answers no question', async () => {
    await page.goto(lay('several'));
    await page.getByLabel('Reason').last().fill('looks fine');
    await press('Approve both');

    expect(decided()).toEqual(['c3-0', 'c3-1'].map((callId) => ({ approvalId: idOf(callId), decision: 'approve', reason: 'looks fine' })));
    expect(await title()).toBe('The agent has a question');
  });

  test('shows what others decided meanwhile', async () => {
    await page.goto(lay('one'));
    fixture.services.failWith = undefined;
    Object.assign(fixture.services.store.suspensions[0]?.approvals['c3-0'] ?? {}, {
      status: 'rejected',
      decision: { by: 'alpha:bob', at: 0, how: 'api' },
    });
    fixture.services.refuse = { code: 'ALREADY_DECIDED', message: 'c3-0 is rejected already' };
    await press('Approve');

    expect(await page.getByRole('alert').textContent()).toContain('C3-0 is rejected already.');
    expect(await title()).toBe('write_file was rejected');
    expect(await page.getByRole('button').count()).toBe(0);
  });

  test('only shows to who comes by a link where links do not decide', async () => {
    fixture.services.linksDecide = false;
    await page.goto(lay('one'));
    await picture('look-phone-light');
    fixture.services.linksDecide = true;

    expect(await page.getByRole('note').textContent()).toContain('This link only shows.');
    expect(await page.getByRole('button').count()).toBe(0);
  });

  test('a mail scanner that opens and follows everything decides nothing', async () => {
    await page.goto(lay('several'));
    for (const link of await page.locator('a[href]').all())
      await page.goto(new URL((await link.getAttribute('href')) ?? '', page.url()).href);
    await page.goto(lay('several'));
    expect(decided()).toEqual([]);
  });

  test('what a model wrote is text, with script allowed too', async () => {
    const address = lay('one');
    const approval = fixture.services.store.suspensions[0]?.approvals['c3-0'];
    const attack =
      '</textarea></pre></form><script>window.hit=1</script><img src=x onerror="window.hit=1">" onfocus="window.hit=1" autofocus x="';
    Object.assign(approval ?? {}, { tool: attack, reason: attack, arguments: { [attack]: attack, list: [attack, { [attack]: attack }] } });
    const scripted = await browser.newPage();
    await scripted.goto(address);

    expect(await scripted.evaluate('window.hit')).toBeUndefined();
    expect(await scripted.locator('img, script').count()).toBe(0);
    expect(await scripted.locator('form').count()).toBe(1);
    expect(await scripted.locator('pre').first().textContent()).toBe(attack);
    await scripted.context().close();
  });
});
