import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createApp } from '../../lib/api/app.ts';
import { iamAuth, jwtAuth } from '../../lib/api/auth/gateway.ts';
import { createCli } from '../../lib/cli/cli.ts';
import { chromiumPath, launchChromium } from '../support/chromium.ts';
import { type Gateway, type GatewayOptions, gateway, type IamCaller } from '../support/gateway.ts';
import { ofType, synthesize } from '../support/stacks.ts';
import { fakeRun, fakeServices, fakeSuspension, TOKEN as LINK } from '../unit/api/fake-services.ts';
import { send } from '../unit/api/server.ts';
import { fakeContext } from '../unit/cli/fake-context.ts';

/** Callers of a deployment as its template lets them in: the CLI, the console, a browser. */

const routesOf = (config: string) =>
  Object.fromEntries(
    ofType(synthesize({}, config).agent, 'AWS::ApiGatewayV2::Route').map(([, { Properties }]) => [
      String(Properties['RouteKey']),
      Properties['AuthorizationType'],
    ]),
  );
const MODELS = 'models: { default: { provider: bedrock, model: "global.anthropic.claude-sonnet-4-5-20250929-v1:0" } }\n';
let routes: Record<'iam' | 'jwt', GatewayOptions['routes']>;
beforeAll(() => {
  routes = {
    iam: routesOf(MODELS),
    jwt: routesOf(`${MODELS}auth: { mode: jwt, issuer: "https://issuer.example", audience: [handrail] }\n`),
  };
});

const caller = (role: string, allowed: readonly string[], session = 'ann'): IamCaller => ({
  accessKeyId: `ASIA${role.toUpperCase()}`,
  secretAccessKey: `secret-of-${role}`,
  sessionToken: `token-of-${role}/+=`,
  iam: {
    accountId: '123456789012',
    userArn: `arn:aws:sts::123456789012:assumed-role/${role}/${session}`,
    userId: `AROA${role}:${session}`,
  },
  allowed,
});
const developer = caller('dev', ['*']);
const TOKEN = 'a-token-of-the-issuer';

let services: ReturnType<typeof fakeServices>;
let deployed: Gateway;
const run = fakeRun(1, { tenant: 'ours', status: 'waiting', plan: { next: 'suspend', suspensionId: `${fakeRun(1).runId}-3` } });
const approvalId = `${run.runId}-3.c3-0`;
beforeEach(() => {
  services = fakeServices();
  services.store.runs = [run];
  services.store.suspensions = [fakeSuspension(run, ['write_file'])];
});
afterEach(() => deployed?.close());

const withIam = async (callers: readonly IamCaller[] = [developer]) => {
  deployed = await gateway({ routes: routes.iam, app: createApp(services, { auth: iamAuth({ tenant: 'ours' }) }), callers });
};
const withTokens = async () => {
  const claims = { sub: 'ada', org: 'ours', scope: 'handrail/run handrail/read handrail/approve' };
  deployed = await gateway({
    routes: routes.jwt,
    app: createApp(services, { auth: jwtAuth({ tenantClaim: 'org' }) }),
    tokens: { [TOKEN]: claims },
  });
};

const KEYS = [
  'AWS_ACCESS_KEY_ID',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  'AWS_PROFILE',
  'AWS_SHARED_CREDENTIALS_FILE',
  'AWS_CONFIG_FILE',
];
const before = Object.fromEntries(KEYS.map((name) => [name, process.env[name]]));
afterAll(() => {
  for (const [name, value] of Object.entries(before))
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
});
/** The AWS SDK reads the process's own environment. */
function signInToAws(one: IamCaller | undefined): void {
  for (const name of KEYS) delete process.env[name];
  Object.assign(process.env, { AWS_SHARED_CREDENTIALS_FILE: '/nowhere', AWS_CONFIG_FILE: '/nowhere', AWS_EC2_METADATA_DISABLED: 'true' });
  if (one)
    Object.assign(process.env, {
      AWS_ACCESS_KEY_ID: one.accessKeyId,
      AWS_SECRET_ACCESS_KEY: one.secretAccessKey,
      AWS_SESSION_TOKEN: one.sessionToken,
    });
}

async function handrail(args: readonly string[], env: Record<string, string> = { HANDRAIL_SIGN_REGION: 'eu-west-1' }) {
  const context = fakeContext({ env: { HANDRAIL_URL: deployed.url, ...env } });
  await createCli(context).parseAsync(['node', 'handrail', ...args]);
  return { code: context.code(), out: context.out(), err: context.err() };
}

describe('with IAM', () => {
  beforeEach(() => signInToAws(developer));

  test('the command line signs: it reads, decides, and stops every tool', async () => {
    await withIam();
    expect(await handrail(['runs', '--limit', '5', '--status', 'waiting'])).toMatchObject({
      code: 0,
      out: expect.stringContaining(run.runId),
    });
    expect((await handrail(['approve', approvalId, '--reason', 'looks good, "ok" + ü'])).code).toBe(0);
    expect(services.decided).toMatchObject([
      { tenant: 'ours', principal: developer.iam.userArn, how: 'cli', decisions: [{ decision: 'approve' }] },
    ]);
    expect((await handrail(['policy', 'set', '*', 'deny'])).code).toBe(0);
    expect(services.store.policies.get('ours')?.at(-1)?.guard).toEqual({ tool_policy: { '*': 'deny' } });
  });

  test('a cursor with signs of its own is signed as it is sent', async () => {
    await withIam();
    const { err } = await handrail(['runs', '--cursor', "a+b/c=&d e~!*'()%"]);
    expect(err).toContain('not a cursor of this list');
  });

  test('a role may do what its policies say, and is told what kind of refusal it was', async () => {
    await withIam([caller('dev', ['GET/runs', 'GET/runs/*'])]);
    expect((await handrail(['runs'])).code).toBe(0);
    const refused = await handrail(['approve', approvalId, '--json']);
    expect([refused.code, JSON.parse(refused.out).error]).toMatchObject([
      1,
      { code: 'FORBIDDEN', message: expect.stringContaining('403') },
    ]);
    expect(services.decided).toEqual([]);
  });

  test('a wrong key is refused, and none at all is said before anything is sent', async () => {
    await withIam();
    signInToAws({ ...developer, secretAccessKey: 'another' });
    expect(await handrail(['runs', '--json'])).toMatchObject({ code: 1, out: expect.stringContaining('FORBIDDEN') });
    signInToAws(undefined);
    expect(await handrail(['runs'])).toMatchObject({ code: 1, err: expect.stringMatching(/no AWS credentials[\s\S]*HANDRAIL_SECRET/) });
    expect(deployed.passed).toEqual([]);
  });

  test('a browser gets the page, which says how to come in, and no data', async () => {
    await withIam();
    const page = await fetch(deployed.url);
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('data-sign-in="signature"')]);
    for (const file of ['console.js', 'console.css']) expect((await fetch(`${deployed.url}/${file}`)).status).toBe(200);
    for (const path of ['/runs', '/approvals', '/openapi.json', '/policy', `/runs/${run.runId}`])
      expect((await fetch(`${deployed.url}${path}`)).status).toBe(403);
    expect((await fetch(`${deployed.url}/`, { method: 'POST' })).status).toBe(403);
  });
});

describe('with tokens', () => {
  test('the command line sends what HANDRAIL_SECRET holds', async () => {
    await withTokens();
    expect(await handrail(['runs'], { HANDRAIL_SECRET: TOKEN })).toMatchObject({ code: 0, out: expect.stringContaining(run.runId) });
    const refused = await handrail(['runs', '--json'], { HANDRAIL_SECRET: 'a-token-that-is-none' });
    expect(JSON.parse(refused.out).error.code).toBe('UNAUTHORIZED');
  });
});

const BROWSER = chromiumPath();
describe.skipIf(BROWSER === undefined)('in a browser', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium(BROWSER ?? '');
  });
  afterAll(() => browser?.close());

  test('the console signs in with a pasted token, and decides', async () => {
    await withTokens();
    const page = await browser.newPage();
    await page.goto(`${deployed.url}/#/runs/${run.runId}`);
    await page.waitForSelector('#sign-in-form:visible');
    expect(await page.locator('#sign-in-hint').textContent()).toContain('Paste your token');
    await page.fill('#secret', TOKEN);
    await page.click('#sign-in-form button');
    await page.click('.approval .primary');
    await page.waitForSelector('.approval', { state: 'detached' });
    expect(services.decided).toMatchObject([{ tenant: 'ours', principal: 'jwt:ada', how: 'api' }]);
    await page.close();
  });

  test('a link that only shows leads to the run in the console, where a person who signs in decides', async () => {
    services.linksDecide = false;
    await withTokens();
    const page = await browser.newPage();
    await page.goto(`${deployed.url}/a/${run.runId}-3?t=${LINK}`);
    expect(await page.locator('form').count()).toBe(0);
    await page.click('text=the console');
    await page.fill('#secret', TOKEN);
    await page.click('#sign-in-form button');
    await page.click('.approval .primary');
    await page.waitForSelector('.approval', { state: 'detached' });
    expect(page.url()).toBe(`${deployed.url}/#/runs/${run.runId}`);
    expect(services.decided).toMatchObject([{ principal: 'jwt:ada' }]);
    await page.close();
  });

  test('with IAM the page asks for nothing and names the command', async () => {
    await withIam();
    const page = await browser.newPage();
    await page.goto(deployed.url);
    await page.waitForSelector('#sign-in:visible');
    expect(await page.locator('#sign-in-hint').textContent()).toContain(`npx handrail console --url ${deployed.url}`);
    expect(await page.locator('#sign-in-form').isVisible()).toBe(false);
    expect(deployed.passed.filter((request) => !/^GET \/(?:console\.\w+)?$/.test(request))).toEqual([]);
    await page.close();
  });

  test('`handrail console` shows the deployment, and decides as whoever started it', async () => {
    signInToAws(developer);
    await withIam();
    const context = fakeContext({ env: { HANDRAIL_URL: deployed.url, HANDRAIL_SIGN_REGION: 'eu-west-1' } });
    const ended = createCli(context).parseAsync(['node', 'handrail', 'console', '--json']);
    while (!context.out().includes('\n')) await new Promise((resolve) => setTimeout(resolve, 10));
    const { link, url } = JSON.parse(context.out());
    // Whoever has not the link gets nothing, and neither do pages of others.
    const port = Number(new URL(url).port);
    expect((await send(port, 'GET', '/runs')).status).toBe(401);
    expect((await send(port, 'GET', '/runs', { host: 'evil.example' })).status).toBe(403);
    const page = await browser.newPage();
    await page.goto(link);
    await page.waitForSelector('#runs a');
    expect(await page.locator('.approval a', { hasText: 'as a page' }).count()).toBe(0);
    await page.click('.approval .primary');
    await page.waitForSelector('.approval', { state: 'detached' });
    expect(services.decided).toMatchObject([{ tenant: 'ours', principal: developer.iam.userArn }]);
    await page.close();
    context.signals.emit('SIGINT');
    await ended;
    expect(context.code()).toBe(0);
  });
});
