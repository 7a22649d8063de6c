import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { permissions } from '../../lib/api/principal.ts';
import { EMULATOR_PORT, startEmulator } from '../../lib/cli/emulator.ts';
import { deployLocal, type LocalDeployment } from '../../lib/cli/emulator-deploy.ts';
import type { Notice } from '../../lib/core/ports/notices.ts';
import { type NoticeInbox, noticeInbox } from '../support/notice-inbox.ts';
import { type TokenIssuer, tokenIssuer } from '../support/token-issuer.ts';
import { apiClient } from './api-client.ts';
import { E2E_CONFIG } from './embedded-runner.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const NAME = 'handrail-ops';
/** New each time: what a run of the tests leaves on an emulator that stays is in no other's way. */
const BUS = `${NAME}-${Date.now()}`;
const AUDIENCE = 'handrail';
/** The tenant of an emulator's secret: whoever comes by token afterwards finds the runs of before. */
const TENANT = 'emulator';
const EVERY_SCOPE = permissions.map((permission) => `handrail/${permission}`).join(' ');
const MINUTE = 60_000;

/** Approvals of the first deployment outlive the second; those of the second expire while the test looks on. */
const configuration = (ttlMs: number, rest: object) =>
  JSON.stringify({
    constraints: { guard: { tool_policy: { write_file: 'confirm' } } },
    approvals: { ttl_ms: ttlMs },
    models: { default: { provider: 'scripted', model: 'e2e', script: join(dirname(E2E_CONFIG), 'script.yaml') } },
    ...rest,
  });

describe.skipIf(process.env['HANDRAIL_URL'] !== undefined)('an operator’s deployment', () => {
  let directory: string;
  let issuer: TokenIssuer;
  let inbox: NoticeInbox;
  let deployment: LocalDeployment;
  let busTopic: string;
  let topic: string;
  let mailTopic: string;
  /** Began before the upgrade, and waits. */
  let waiting: string;
  let nobodyDecides: string;

  const deploy = async (ttlMs: number, rest: object, settings: Record<string, string> = {}) => {
    const config = join(directory, 'handrail.config.yaml');
    await writeFile(config, configuration(ttlMs, rest));
    const port = Number(process.env['HANDRAIL_EMULATOR_PORT'] ?? EMULATOR_PORT);
    return deployLocal({ root: ROOT, port, config, name: NAME, settings });
  };
  const client = (token: string) => apiClient({ url: deployment.apiUrl, authorization: `Bearer ${token}` });
  const someone = (claims: Record<string, unknown>) => client(issuer.token({ sub: 'ada', tenant: TENANT, ...claims }));
  const operator = () => someone({ scope: EVERY_SCOPE });

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'handrail-operator-'));
    issuer = await tokenIssuer(AUDIENCE);
    const { endpoint } = await startEmulator({ root: ROOT, port: Number(process.env['HANDRAIL_EMULATOR_PORT'] ?? EMULATOR_PORT) });
    inbox = await noticeInbox(endpoint);
    topic = await inbox.subscribe(`${NAME}-ours`);
    ({ topicArn: busTopic } = await inbox.bus(BUS));

    deployment = await deploy(30 * MINUTE, {});
    const before = client(deployment.secret ?? '');
    waiting = await before.start('scenario-write');
    await before.approvals(waiting, 1);

    deployment = await deploy(
      45_000,
      {
        auth: { mode: 'jwt', issuer: issuer.url, audience: [AUDIENCE], tenant_claim: 'tenant' },
        notices: { sns_topic_arn: topic, event_bus: BUS },
      },
      { approvalsMail: 'approvals@example.com' },
    );
    mailTopic = await inbox.subscribe(`${NAME}-approvals`);
    nobodyDecides = await operator().start('scenario-write');
  }, 10 * MINUTE);

  afterAll(async () => {
    await issuer?.close();
    await inbox?.close();
    await rm(directory, { recursive: true, force: true });
  });

  it('is upgraded while a run waits, and the run goes on', async () => {
    expect(deployment.secret).toBeUndefined();
    const [approval] = await operator().approvals(waiting, 1);
    await operator().call('POST', `/approvals/${approval.approvalId}`, { decision: 'approve' });
    expect(await operator().ended(waiting)).toMatchObject({ status: 'succeeded', effects: { 'fs.write': 1 } });
    const { body } = await operator().call('GET', `/approvals/${approval.approvalId}`);
    expect(body).toMatchObject({ status: 'approved', decision: { by: 'jwt:ada' } });
  });

  it('lets in who has a token of the issuer, and nobody else', async () => {
    const past = Math.floor(Date.now() / 1000) - 60;
    const good = { sub: 'ada', tenant: TENANT, scope: EVERY_SCOPE };
    const refused = {
      'of another key': issuer.forged(good),
      'of another issuer': issuer.token({ ...good, iss: 'https://login.example.com' }),
      'for another audience': issuer.token({ ...good, aud: 'something-else' }),
      'that has expired': issuer.token({ ...good, exp: past }),
      'with the algorithm none': `${Buffer.from('{"alg":"none"}').toString('base64url')}.${issuer.token(good).split('.')[1]}.`,
      'that is none': 'handrail',
    };
    for (const [what, token] of Object.entries(refused)) {
      expect(await client(token).call('GET', '/runs'), `a token ${what}`).toMatchObject({ status: 401 });
    }
    expect((await fetch(`${deployment.apiUrl}/runs`)).status).toBe(401);
    expect((await fetch(`${deployment.apiUrl}/health`)).status).toBe(200);
    expect((await client(issuer.token(good)).call('GET', '/runs')).status).toBe(200);
  });

  it('lets a token do what its scopes say', async () => {
    const calls = {
      read: ['GET', '/runs'],
      run: ['POST', '/runs', { input: 'scenario-answer' }],
      approve: ['POST', '/approvals', { decision: 'approve', approvalIds: ['nowhere.0'] }],
      policy: ['PUT', '/policy?scope=tenant', { guard: {} }],
      delete: ['DELETE', '/sessions/s-nowhere'],
    } as const;
    for (const scope of permissions) {
      // Providers write one or the other claim.
      for (const claim of [{ scope: `openid handrail/${scope}` }, { scp: [`handrail/${scope}`] }]) {
        const allowed = [];
        for (const permission of permissions) {
          const [method, path, body] = calls[permission];
          const { status, body: answer } = await someone(claim).call(method, path, body);
          if (status !== 403) allowed.push(permission);
          else expect(answer).toMatchObject({ code: 'FORBIDDEN' });
        }
        expect(allowed, JSON.stringify(claim)).toEqual([scope]);
      }
    }
    expect((await someone({ scope: 'openid' }).call('GET', '/runs')).status).toBe(403);
  });

  it('shows a tenant nothing of another', async () => {
    const other = someone({ tenant: 'others', scope: EVERY_SCOPE });
    for (const path of [`/runs/${waiting}`, `/runs/${waiting}/events`, `/runs/${waiting}/export`])
      expect((await other.call('GET', path)).status).toBe(404);
    expect((await other.call('GET', '/runs')).body.runs).toEqual([]);
    expect((await someone({ tenant: '../x', scope: EVERY_SCOPE }).call('GET', '/runs')).status).toBe(403);
  });

  it('tells people by topic, by mail’s topic and by bus; the link needs no token', async () => {
    const runId = await operator().start('scenario-write');
    const about = (topicArn: string) =>
      operator().until(`a notice of ${runId} from ${topicArn}`, async () =>
        inbox.from(topicArn).find(({ Message }) => Message.includes(runId)),
      );
    const [byTopic, byMail, byBus] = await Promise.all([about(topic), about(mailTopic), about(busTopic)]);
    expect(byTopic.Subject).toBe('Handrail: write_file needs your decision');
    expect(byMail.Message).toBe(byTopic.Message);
    const event: { source: string; 'detail-type': string; detail: Notice } = JSON.parse(byBus.Message);
    expect(event).toMatchObject({ source: 'handrail', 'detail-type': 'approval.requested', detail: { tenant: TENANT, runId } });
    expect(byTopic.Message).toContain(event.detail.link);

    // The emulator serves the API below a path of its own.
    const { pathname, searchParams } = new URL(event.detail.link);
    const page = `${deployment.apiUrl}${pathname}`;
    const t = searchParams.get('t') ?? '';
    expect(await (await fetch(`${page}?${new URLSearchParams({ t })}`)).text()).toContain('May write_file run?');
    const [approval] = event.detail.approvals;
    const approve = new URLSearchParams({ t, do: `approve:${approval?.approvalId.split('.')[1]}` });
    expect((await fetch(page, { method: 'POST', redirect: 'manual', body: approve })).status).toBe(303);
    expect(await operator().ended(runId)).toMatchObject({ status: 'succeeded', effects: { 'fs.write': 1 } });
  });

  it('deletes a session and all it left', async () => {
    const api = operator();
    const { runId, sessionId } = await api.ended(await api.start('scenario-tool'));
    const left = [`/sessions/${sessionId}`, `/runs/${runId}`, `/runs/${runId}/export`, `/sessions/${sessionId}/files/a.txt`];
    const statuses = () => Promise.all(left.map(async (path) => (await api.call('GET', path)).status));
    expect(await statuses()).toEqual([200, 200, 200, 200]);
    expect((await api.call('DELETE', `/sessions/${sessionId}`)).status).toBe(204);
    expect(await statuses()).toEqual([404, 404, 404, 404]);
  });

  it('sweeps by its schedule: what nobody decided expires, and the run goes on', { timeout: 4 * MINUTE }, async () => {
    const end = Date.now() + 3 * MINUTE;
    const ended = async () => (await operator().call('GET', `/runs/${nobodyDecides}`)).body;
    while ((await ended()).status === 'waiting' && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect((await operator().ended(nobodyDecides)).answer).toContain('APPROVAL_EXPIRED');
  });
});
