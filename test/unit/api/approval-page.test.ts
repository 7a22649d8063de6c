import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createApp } from '../../../lib/api/app.ts';
import { iamAuth } from '../../../lib/api/auth/gateway.ts';
import { lambdaHandler } from '../../../lib/api/lambda.ts';
import { routes } from '../../../lib/api/routes.ts';
import { checkLink, LINK_TRIES } from '../../../lib/core/guard/approvals/link.ts';
import type { Approval, Suspension } from '../../../lib/core/guard/approvals/suspension.ts';
import { defineTool } from '../../../lib/core/hands/define-tool.ts';
import { memoryLinkStore } from '../../support/memory-link-store.ts';
import { fakeRun, fakeSuspension, NOW, TOKEN } from './fake-services.ts';
import { LOCAL_SECRET, SECRETS, send, startBearerServer, startLocalServer, type TestServer } from './server.ts';

let fixture: TestServer;
let suspension: Suspension;
beforeAll(async () => {
  fixture = await startBearerServer();
});
afterAll(() => fixture.server.close());
beforeEach(() => {
  const run = fakeRun(1, { status: 'waiting', plan: { next: 'suspend', suspensionId: `${fakeRun(1).runId}-3` } });
  suspension = fakeSuspension(run, ['write_file', 'execute_shell']);
  Object.assign(fixture.services.store, { runs: [run], suspensions: [suspension] });
  Object.assign(fixture.services, { linksDecide: true, refuse: undefined });
  fixture.services.decided.length = 0;
  fixture.services.logged.length = 0;
});

const address = (token: string | null = TOKEN, id = suspension.suspensionId) => `/a/${id}${token === null ? '' : `?t=${token}`}`;
const get = (path = address(), headers: Record<string, string> = {}, method = 'GET') => send(fixture.server.port, method, path, headers);
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const post = (
  fields: Record<string, string> | [string, string][],
  headers: Record<string, string> = {},
  path = `/a/${suspension.suspensionId}`,
) => send(fixture.server.port, 'POST', path, { ...FORM, ...headers }, new URLSearchParams(fields).toString());
const decisions = () => fixture.services.decided.flatMap((request) => request.decisions);
const idOf = (callId: string) => `${suspension.suspensionId}.${callId}`;
const approvalOf = (callId: string): Approval => {
  const approval = suspension.approvals[callId];
  if (!approval) throw new Error(`no approval ${callId}`);
  return approval;
};
const only = (over: Partial<Approval>) => {
  suspension.approvals = { 'c3-0': { ...approvalOf('c3-0'), ...over } };
};

describe('looking', () => {
  test('R29: opening the link, by GET or HEAD and however often, decides nothing', async () => {
    for (const method of ['GET', 'HEAD', 'GET', 'HEAD']) expect((await get(address(), {}, method)).status).toBe(200);
    expect(fixture.services.decided).toEqual([]);
    await post({ t: TOKEN, do: 'approve:c3-0' });
    await post({ t: TOKEN, do: 'approve:c3-0' });
    expect(decisions()).toEqual([
      { approvalId: idOf('c3-0'), decision: 'approve' },
      { approvalId: idOf('c3-0'), decision: 'approve' },
    ]);
  });

  test('HEAD answers as GET does, without the page', async () => {
    const [whole, head] = [await get(), await get(address(), {}, 'HEAD')];
    const { 'content-length': _length, 'transfer-encoding': _encoding, ...headers } = whole.headers;
    expect(head).toMatchObject({ status: 200, body: '', headers: { ...headers, date: expect.any(String) } });
  });

  test('says how many calls are decided, by when, and what the run has cost', async () => {
    const { body } = await get();
    expect(body).toContain('You decide about 2 calls.');
    expect(body).toContain('1 day left');
    expect(body).toContain('$0.0042');
    expect(body).toContain('Approve both');
  });

  test('runs no script, sends no referrer, is not kept and not framed', async () => {
    const { headers, body } = await get();
    const policy = String(headers['content-security-policy']);
    expect(policy).toMatch(
      /^default-src 'none'; style-src 'sha256-[A-Za-z0-9+/]{43}='; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
    );
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
    });
    expect(body).not.toMatch(/<script|javascript:| on\w+=| style=|https?:\/\/(?!www\.w3\.org\/2000\/svg)/);
  });

  test('shows the editor what stands there, with what would not show as escapes', async () => {
    only({ arguments: { path: 'a\u202eb', content: 'x\u200by\u0000 é 😀', count: 3 } });
    const { body } = await get();
    const [, editor = ''] = /<textarea id="arguments-c3-0"[^>]*>\n([^<]*)/.exec(body) ?? [];
    const text = editor.replaceAll(/&#(\d+);/g, (_all, code: string) => String.fromCharCode(Number(code)));
    expect(text).toMatch(/^[\n\x20-\x7eé😀]*$/u);
    expect(JSON.parse(text)).toEqual(approvalOf('c3-0').arguments);
  });

  test.each([
    ['one that nobody has', () => address(TOKEN, `${fakeRun(9).runId}-3`)],
    ['a wrong token', () => address('cd'.repeat(32))],
    ['no token', () => address(null)],
    ['an empty token', () => address('')],
    ['what is no id', () => address(TOKEN, 'nonsense')],
    ['an id of Object.prototype', () => address(TOKEN, '__proto__')],
  ])('answers the same 404 for %s', async (_what, path) => {
    const [answer, usual] = [await get(path()), await get(address('ef'.repeat(32)))];
    expect([answer.status, answer.body]).toEqual([404, usual.body]);
    expect({ ...answer.headers, date: '' }).toEqual({ ...usual.headers, date: '' });
    expect(answer.body).not.toMatch(/write_file|alpha/);
    expect(fixture.services.logged).toEqual([]);
  });

  test('answers 429 and when to come back once too many wrong tokens were tried, right ones included', async () => {
    const links = memoryLinkStore({ suspensions: new Map() });
    const { checkLink: usual } = fixture.services;
    fixture.services.checkLink = (id, token) => checkLink({ links, clock: { now: () => NOW } }, id, token);
    const statuses = [];
    for (let n = 0; n < LINK_TRIES; n++) statuses.push((await get(address('wrong'))).status);
    const locked = await get();
    fixture.services.checkLink = usual;

    expect(new Set(statuses)).toEqual(new Set([404]));
    expect(locked).toMatchObject({ status: 429, headers: { 'content-type': 'text/html; charset=utf-8' } });
    expect(Number(locked.headers['retry-after'])).toBeGreaterThan(0);
  });
});

describe('deciding', () => {
  test('redirects to the page, which then shows the decision', async () => {
    only({});
    const answer = await post({ t: TOKEN, do: 'reject:c3-0', 'reason.c3-0': ' too early\r\nfor this ' });
    expect(answer).toMatchObject({ status: 303, headers: { location: address(), 'cache-control': 'no-store' } });
    expect(decisions()).toEqual([{ approvalId: idOf('c3-0'), decision: 'reject', reason: 'too early\nfor this' }]);
    expect((await get()).body).toContain('write_file was rejected');
  });

  test.each([
    ['no button', {}],
    ['a call of another request', { do: 'approve:c9-9' }],
    ['a verb that is none', { do: 'explode:c3-0' }],
    ['all, but none that the page asked about', { do: 'approve-all' }],
    ['a choice that was not given', { do: 'choose:c3-0:0' }],
    ['a choice by the name of a method', { do: 'choose:c3-0:length' }],
    ['an empty answer', { do: 'answer:c3-0', 'answer.c3-0': ' ' }],
    ['arguments that are no JSON', { do: 'edit:c3-0', 'arguments.c3-0': 'rm -rf' }],
    ['arguments that are no object', { do: 'edit:c3-0', 'arguments.c3-0': '[1]' }],
    ['arguments with __proto__', { do: 'edit:c3-0', 'arguments.c3-0': '{"__proto__":{}}' }],
    ['arguments deeper than anyone needs', { do: 'edit:c3-0', 'arguments.c3-0': `${'{"a":'.repeat(200)}1${'}'.repeat(200)}` }],
    ['no arguments', { do: 'edit:c3-0', 'arguments.c3-0': '' }],
  ])('refuses %s with 400 and the page, and decides nothing', async (_what, fields) => {
    const answer = await post({ t: TOKEN, ...fields });
    expect([answer.status, answer.headers['content-type']]).toEqual([400, 'text/html; charset=utf-8']);
    expect(answer.body).toContain('Nothing was decided');
    expect(fixture.services.decided).toEqual([]);
  });

  test('takes all that the person saw, and not what came since', async () => {
    await post([
      ['t', TOKEN],
      ['asked', 'c3-0'],
      ['asked', 'c9-9'],
      ['do', 'reject-all'],
      ['reason.all', 'no'],
    ]);
    expect(decisions()).toEqual([{ approvalId: idOf('c3-0'), decision: 'reject', reason: 'no' }]);
  });

  test('refuses changed arguments that the tool itself would refuse, by its own words', async () => {
    const tool = defineTool({
      name: 'write_file',
      description: 'Writes.',
      parameters: {
        type: 'object',
        properties: { path: { type: 'string' }, content: { type: 'string' } },
        required: ['path'],
        additionalProperties: false,
      },
      category: 'file',
    });
    const { tools } = fixture.services;
    fixture.services.tools = () => [tool];
    const answer = await post({ t: TOKEN, do: 'edit:c3-0', 'arguments.c3-0': '{"file":"x"}' });
    fixture.services.tools = tools;
    expect(answer.status).toBe(400);
    expect(answer.body).toMatch(/write_file would refuse them\..*path/s);
    expect(fixture.services.decided).toEqual([]);
  });

  test.each([
    ['left as it was', { token: '***', note: 'new' }, { token: 'tok-secret-value', note: 'new' }],
    ['written anew', { token: 'mine', note: 'b' }, { token: 'mine', note: 'b' }],
    ['dropped', { note: 'b' }, { note: 'b' }],
  ])('a masked secret that was %s becomes what the person meant', async (_what, edited, runs) => {
    only({ tool: 'unknown_tool', arguments: { token: 'tok-secret-value', note: 'a' } });
    await post({ t: TOKEN, do: 'edit:c3-0', 'arguments.c3-0': JSON.stringify(edited) });
    expect(decisions()).toMatchObject([{ arguments: runs }]);
  });

  test('a mask that was moved is no secret of another argument, and one that was written into is refused', async () => {
    only({ tool: 'unknown_tool', arguments: { token: 'tok-secret-value', note: 'a' } });
    expect((await post({ t: TOKEN, do: 'edit:c3-0', 'arguments.c3-0': '{"token":"x***"}' })).status).toBe(400);
    await post({ t: TOKEN, do: 'edit:c3-0', 'arguments.c3-0': '{"token":"***","note":"***"}' });
    expect(decisions()).toMatchObject([{ arguments: { token: 'tok-secret-value', note: '***' } }]);
  });

  test.each([
    ['ALREADY_DECIDED', 409],
    ['EXPIRED', 410],
    ['FORBIDDEN', 403],
    ['CONFLICT', 409],
  ] as const)('tells %s on the page, with what was typed', async (code, status) => {
    fixture.services.refuse = { code, message: `because of ${code}` };
    const answer = await post({ t: TOKEN, do: 'reject:c3-0', 'reason.c3-0': 'kept <text>' });
    expect(answer.status).toBe(status);
    expect(answer.body).toContain(`Because of ${code}.`);
    expect(answer.body).toContain('kept &#60;text&#62;');
  });

  test('a reason of 1 MB is too much, and one that is too long is told at its field', async () => {
    expect((await post({ t: TOKEN, do: 'reject:c3-0', 'reason.c3-0': 'x'.repeat(1_000_001) })).status).toBe(413);
    fixture.services.refuse = { code: 'BAD_REQUEST', message: 'a reason has at most 2048 bytes', field: 'reason' };
    const answer = await post({ t: TOKEN, do: 'reject:c3-0', 'reason.c3-0': 'x'.repeat(5_000) });
    expect(answer.body).toMatch(/<textarea id="reason-c3-0"[^>]* aria-invalid="true"/);
    expect(fixture.services.decided).toEqual([]);
  });

  test.each([
    ['application/json', '{"do":"approve:c3-0"}'],
    ['multipart/form-data; boundary=x', '--x--'],
    ['text/plain', 'do=approve:c3-0'],
  ])('takes no form as %s', async (type, body) => {
    const answer = await send(fixture.server.port, 'POST', `/a/${suspension.suspensionId}`, { 'content-type': type }, body);
    expect(answer.status).toBe(415);
  });

  test('hides and logs a failure of its own', async () => {
    fixture.services.failWith = new Error('password=hunter2');
    const answer = await post({ t: TOKEN, do: 'approve:c3-0' });
    expect([answer.status, answer.body.includes('hunter2')]).toEqual([500, false]);
    expect(JSON.stringify(fixture.services.logged)).not.toContain(TOKEN);
  });
});

describe('who may', () => {
  test('nobody without the token, whatever the address says', async () => {
    for (const token of ['', 'cd'.repeat(32)]) expect((await post({ t: token, do: 'approve:c3-0' }, {}, address())).status).toBe(404);
    expect(fixture.services.decided).toEqual([]);
  });

  test('who has signed in decides as themselves and needs no link', async () => {
    const signed = { authorization: `Bearer ${SECRETS.approve}` };
    expect((await get(address(null), signed)).status).toBe(200);
    expect((await post({ do: 'approve:c3-0' }, signed)).headers['location']).toBe(address(null));
    expect(fixture.services.decided).toMatchObject([{ tenant: 'alpha', principal: 'alpha:approve', how: 'page' }]);
  });

  test('who may only read, only looks', async () => {
    const signed = { authorization: `Bearer ${SECRETS.read}` };
    const { status, body } = await get(address(null), signed);
    expect([status, body.includes('<form')]).toEqual([200, false]);
    expect(body).toContain('needs the permission');
    expect((await post({ do: 'approve:c3-0' }, signed)).status).toBe(403);
    expect(fixture.services.decided).toEqual([]);
  });

  test('another tenant is told nothing', async () => {
    const signed = { authorization: `Bearer ${SECRETS.beta}` };
    expect([(await get(address(null), signed)).body]).toEqual([(await get(address('cd'.repeat(32)))).body]);
    expect((await post({ do: 'approve:c3-0' }, signed)).status).toBe(404);
  });

  test('where links do not decide they show, and say who may', async () => {
    fixture.services.linksDecide = false;
    const { status, body } = await get();
    expect([status, body.includes('<form')]).toEqual([200, false]);
    expect(body).toContain(`npx handrail approve ${idOf('c3-0')} --url http://127.0.0.1:${fixture.server.port}`);
    expect(body).toContain(`<a href="/#/runs/${suspension.runId}">the console</a>`);
    expect((await post({ t: TOKEN, do: 'approve:c3-0' })).status).toBe(403);
    expect(fixture.services.decided).toEqual([]);
    expect((await post({ t: TOKEN, do: 'approve:c3-0' }, { authorization: `Bearer ${SECRETS.approve}` })).status).toBe(303);
  });
});

describe('forms of other pages', () => {
  const fields = { t: TOKEN, do: 'approve:c3-0' };
  const self = () => `http://127.0.0.1:${fixture.server.port}`;

  test.each([
    ['another site', { 'sec-fetch-site': 'cross-site', origin: 'null' }],
    ['another port of this machine', { 'sec-fetch-site': 'same-site', origin: 'http://127.0.0.1:1' }],
    ['another origin, in a browser that says no more', { origin: 'https://evil.example' }],
  ])('are refused: %s', async (_what, headers) => {
    expect((await post(fields, headers)).status).toBe(403);
    expect(fixture.services.decided).toEqual([]);
  });

  test.each([
    ['our page, which sends no referrer', () => ({ 'sec-fetch-site': 'same-origin', origin: 'null' })],
    ['our page, by its origin', () => ({ origin: self() })],
    ['a client that is no browser, by the token', () => ({})],
  ])('do not stand in the way of %s', async (_what, headers) => {
    expect((await post(fields, headers())).status).toBe(303);
  });

  test('a cookie alone proves nothing: who is signed in by it needs the form to be ours', async () => {
    const local = await startLocalServer();
    Object.assign(local.services.store, { runs: fixture.services.store.runs, suspensions: [suspension] });
    const [cookie = ''] = String((await send(local.server.port, 'GET', `/?key=${local.auth.ticket()}`)).headers['set-cookie']).split(';');
    const submit = (headers: Record<string, string>) =>
      send(local.server.port, 'POST', `/a/${suspension.suspensionId}`, { ...FORM, cookie, ...headers }, 'do=approve:c3-0');

    const refused = [
      await submit({}),
      await submit({ origin: 'null' }),
      await submit({ origin: 'null', 'sec-fetch-site': 'same-site' }),
      await submit({ origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }),
    ];
    expect(refused.map(({ status }) => status)).toEqual([403, 403, 403, 403]);
    expect(local.services.decided).toEqual([]);
    expect((await submit({ origin: 'null', 'sec-fetch-site': 'same-origin' })).status).toBe(303);
    expect(local.services.decided).toMatchObject([{ principal: 'local:owner' }]);
    expect(
      (await send(local.server.port, 'GET', `/a/${suspension.suspensionId}`, { authorization: `Bearer ${LOCAL_SECRET}` })).status,
    ).toBe(200);
    await local.server.close();
  });
});

test('works the same behind API Gateway, where nobody is signed in on it', async () => {
  const handler = lambdaHandler(createApp(fixture.services, { auth: iamAuth() }));
  const event = (method: string, query: string, body?: string) => ({
    version: '2.0',
    rawPath: `/a/${suspension.suspensionId}`,
    rawQueryString: query,
    headers: { host: 'x.execute-api.test', ...(body === undefined ? {} : FORM) },
    requestContext: { stage: '$default', domainName: 'x.execute-api.test', http: { method } },
    ...(body === undefined ? {} : { body: Buffer.from(body).toString('base64'), isBase64Encoded: true }),
  });

  expect(await handler(event('GET', `t=${TOKEN}`))).toMatchObject({ statusCode: 200, body: expect.stringContaining('Approve both') });
  expect(await handler(event('GET', ''))).toMatchObject({ statusCode: 404 });
  expect(await handler(event('POST', '', `t=${TOKEN}&do=approve%3Ac3-0`))).toMatchObject({
    statusCode: 303,
    headers: { location: address() },
  });
  expect(decisions()).toEqual([{ approvalId: idOf('c3-0'), decision: 'approve' }]);
});

test('where links only show and requests are signed, it names the command that opens the console', async () => {
  fixture.services.linksDecide = false;
  const handler = lambdaHandler(createApp(fixture.services, { auth: iamAuth() }));
  const { body } = await handler({
    rawPath: `/a/${suspension.suspensionId}`,
    rawQueryString: `t=${TOKEN}`,
    requestContext: { domainName: 'x.execute-api.test', http: { method: 'GET' } },
  });
  expect(body).toContain('<code>npx handrail console --url https://x.execute-api.test</code>');
  expect(body).toContain(`<code>npx handrail approve ${idOf('c3-0')} --url https://x.execute-api.test</code>`);
  expect(body).not.toContain('href="/#/runs');
});

test('its two routes are pages: the only public ones that name an id', () => {
  const open = routes.filter((route) => route.access === 'public' && route.params !== undefined);
  expect(open.map(({ method, path, page }) => [method, path, page])).toEqual([
    ['get', '/a/{suspensionId}', true],
    ['post', '/a/{suspensionId}', true],
  ]);
});
