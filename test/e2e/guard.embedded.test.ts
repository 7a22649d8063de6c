import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { apiClient } from './api-client.ts';
import { embeddedRunner } from './embedded-runner.ts';
import type { Runner } from './runner.ts';

let runner: Runner;
let api: ReturnType<typeof apiClient>;
beforeAll(async () => {
  runner = await embeddedRunner();
  api = apiClient(runner);
});
afterAll(async () => runner?.close());

/** PUT /policy as a client does it that has just looked. */
async function setPolicy(guard: object, scope = 'tenant', ifMatch?: string) {
  const url = `${runner.url}/policy?scope=${scope}`;
  const headers = { authorization: runner.authorization, 'content-type': 'application/json' };
  const seen = await fetch(url, { headers });
  const tag = ifMatch ?? seen.headers.get('etag') ?? '';
  const answer = await fetch(url, { method: 'PUT', headers: { ...headers, 'if-match': tag }, body: JSON.stringify({ guard }) });
  return { status: answer.status, etag: answer.headers.get('etag'), body: await answer.json() };
}

describe('the live policy over HTTP', () => {
  afterEach(async () => {
    for (const scope of ['tenant', 'deployment']) await setPolicy({}, scope);
  });

  it.each(['tenant', 'deployment'])('of the %s stops a call of a run that was under way, although a person approves it', async (scope) => {
    const runId = await api.start('scenario-write');
    const [approval] = await api.approvals(runId, 1);
    expect(await setPolicy({ tool_policy: { write_file: 'deny' } }, scope)).toMatchObject({
      status: 200,
      body: { updatedBy: 'local:owner' },
    });
    await api.call('POST', `/approvals/${approval.approvalId}`, { decision: 'approve' });
    const run = await api.ended(runId);
    expect(run.answer).toContain('GUARD_DENIED');
    expect(run.answer).toContain('"write_file" is deny (policy)');
    expect(run.effects).toEqual({});
    const decisions = (await api.events(runId)).filter(({ type }) => type === 'guard.decision');
    expect(decisions.at(-1)?.data).toMatchObject({ decision: 'DENY', checker: 'tool_policy' });
  });

  it('returns to the deployed value once the rule is taken out', async () => {
    await setPolicy({ tool_policy: { execute_shell: 'deny' } });
    expect((await api.ended(await api.start('scenario-tool'))).effects).toEqual({});
    await setPolicy({});
    expect((await api.ended(await api.start('scenario-tool'))).effects).toEqual({ 'code.exec': 1 });
  });

  it('is changed by version, and every version is kept with who and when', async () => {
    const first = await setPolicy({ flow: 'deny' });
    const second = await setPolicy({ max_tool_calls: 3 });
    expect(await setPolicy({}, 'tenant', first.etag ?? '')).toMatchObject({ status: 412, etag: second.etag, body: { code: 'CONFLICT' } });
    expect((await api.call('PUT', '/policy', { guard: {} })).status).toBe(428);
    const { versions } = (await api.call('GET', '/policy/history?limit=2')).body;
    expect(versions.slice(0, 2)).toMatchObject([
      { guard: { max_tool_calls: 3 }, updatedBy: 'local:owner' },
      { guard: { flow: 'deny' }, updatedBy: 'local:owner' },
    ]);
    expect(versions[0].updatedAt).toBeGreaterThanOrEqual(versions[1].updatedAt);
  });
});

describe('constraints of a request', () => {
  it('tighten, with the layer of each part shown, and loosen nothing', async () => {
    const wider = { guard: { tool_policy: { '*': 'allow', write_file: 'allow' }, flow: 'off' }, max_iterations: 1_000 };
    const runId = await api.start('scenario-write', { constraints: wider });
    const [approval] = await api.approvals(runId, 1);
    expect(approval.reason).toBe('tool policy: "write_file" is confirm (app)');
    const { constraints } = (await api.call('GET', `/runs/${runId}`)).body;
    expect(constraints).toMatchObject({
      max_iterations: 40,
      guard: { flow: 'confirm' },
      origins: { max_iterations: 'app', 'guard.flow': 'default' },
    });
    await api.call('POST', `/runs/${runId}/cancel`);

    const tighter = { guard: { tool_policy: { write_file: 'deny' } }, max_iterations: 3 };
    const run = await api.ended(await api.start('scenario-write', { constraints: tighter }));
    expect(run.effects).toEqual({});
    expect(run.constraints.origins).toMatchObject({ max_iterations: 'run' });
    expect(run.constraints.guard.tool_policy.map(({ layer }: { layer: string }) => layer)).toEqual(['app', 'run']);
  });

  it('that are wrong are refused by field', async () => {
    const constraints = { guard: { tool_policy: { write_file: { policy: 'deny', when: { typ: 'object' } } } } };
    expect((await api.call('POST', '/runs', { input: 'x', constraints })).body).toMatchObject({
      status: 400,
      field: 'constraints.guard.tool_policy.write_file.when',
    });
    expect((await api.call('POST', '/runs', { input: 'x', constraints: { guard: { checkers: ['./mine.ts'] } } })).status).toBe(400);
  });
});

it('approvals of several runs are decided in one request, each suspension on its own', async () => {
  const runIds = [await api.start('scenario-write'), await api.start('scenario-write'), await api.start('scenario-question')];
  const ids = [];
  for (const runId of runIds) ids.push((await api.approvals(runId, 1))[0].approvalId);
  await api.call('POST', `/approvals/${ids[1]}`, { decision: 'reject' });
  const { status, body } = await api.call('POST', '/approvals', {
    decisions: [
      { approvalId: ids[0], decision: 'approve' },
      { approvalId: ids[1], decision: 'approve' },
      { approvalId: ids[2], decision: 'answer', answer: 'red' },
    ],
  });
  expect(status).toBe(200);
  expect(body.approvals.map(({ status: now }: { status: string }) => now)).toEqual(['approved', 'rejected', 'answered']);
  expect(body.refused).toMatchObject([{ approvalId: ids[1], code: 'ALREADY_DECIDED' }]);
  const answers = [];
  for (const runId of runIds) answers.push((await api.ended(runId)).answer);
  expect(answers).toEqual([expect.stringContaining('report.md'), expect.stringContaining('APPROVAL_REJECTED'), 'You chose red.']);
});

it('edited arguments that the tool would refuse are refused at once, and the approval can still be decided', async () => {
  const runId = await api.start('scenario-write');
  const [{ approvalId }] = await api.approvals(runId, 1);
  const wrong = await api.call('POST', `/approvals/${approvalId}`, { decision: 'approve', arguments: { path: 7, content: 'x' } });
  expect([wrong.status, wrong.body]).toMatchObject([400, { code: 'INVALID_ARGUMENTS', field: 'arguments/path' }]);
  expect((await api.call('GET', `/approvals/${approvalId}`)).body.status).toBe('pending');
  const right = await api.call('POST', `/approvals/${approvalId}`, { decision: 'approve', arguments: { path: 'mine.md', content: 'x' } });
  expect([right.status, right.body.status]).toEqual([200, 'edited']);
  expect((await api.ended(runId)).status).toBe('succeeded');
});
