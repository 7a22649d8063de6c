import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createCli } from '../../../lib/cli/cli.ts';
import { fakeRun, fakeSuspension } from '../api/fake-services.ts';
import { SECRETS, startBearerServer, type TestServer } from '../api/server.ts';
import { fakeContext } from './fake-context.ts';

let api: TestServer;
beforeAll(async () => {
  api = await startBearerServer();
});
afterAll(() => api.server.close());
beforeEach(() => api.services.store.policies.clear());

async function handrail(args: readonly string[], secret: string = SECRETS.alpha) {
  const context = fakeContext({ env: { HANDRAIL_URL: api.server.url, HANDRAIL_SECRET: secret } });
  await createCli(context).parseAsync(['node', 'handrail', ...args]);
  return { code: context.code(), out: context.out(), err: context.err() };
}
const versions = () => api.services.store.policies.get('alpha') ?? [];

test('policy set, show and unset change the live policy of the tenant, rule by rule', async () => {
  expect((await handrail(['policy', 'show'])).err).toContain('live policy of the tenant, version 0, never set');

  const first = await handrail(['policy', 'set', 'execute_shell', 'deny']);
  expect([first.code, first.out]).toEqual([
    0,
    expect.stringMatching(/^execute_shell +deny +\(live\)\nwrite_file +confirm +\(configuration\)\n$/),
  ]);
  await handrail(['policy', 'set', 'web_*', 'confirm']);
  expect(versions().at(-1)?.guard).toEqual({ tool_policy: { execute_shell: 'deny', 'web_*': 'confirm' } });

  expect((await handrail(['policy', 'unset', 'execute_shell'])).code).toBe(0);
  expect(versions().at(-1)?.guard).toEqual({ tool_policy: { 'web_*': 'confirm' } });
  expect((await handrail(['policy'])).err).toContain('version 3');
});

test('policy set keeps what else the policy says, and says when the configuration is stricter', async () => {
  api.services.store.policies.set('alpha', [
    { v: 1, version: 1, guard: { flow: 'deny', max_tool_calls: 3 }, updatedAt: 1, updatedBy: 'x' },
  ]);
  const { err } = await handrail(['policy', 'set', 'write_file', 'allow']);
  expect(versions().at(-1)?.guard).toEqual({ flow: 'deny', max_tool_calls: 3, tool_policy: { write_file: 'allow' } });
  expect(err).toContain('the configuration says write_file: confirm, and that stands');
});

test('policy set warns of a rule that fits no tool, on stderr and in the JSON, and sets it', async () => {
  const { code, out, err } = await handrail(['policy', 'set', 'reed_file', 'deny']);
  expect([code, versions().at(-1)?.guard]).toEqual([0, { tool_policy: { reed_file: 'deny' } }]);
  expect(err).toContain('warning: tool_policy.reed_file: there is no tool "reed_file"; did you mean "read_file"?');
  expect(out).not.toContain('warning');
  const asJson = await handrail(['policy', 'set', 'read_*', 'confirm', '--json']);
  expect(JSON.parse(asJson.out).warnings).toEqual([expect.stringContaining('reed_file')]);
  expect(asJson.err).toContain('reed_file');
});

test('policy set looks again when somebody else was faster', async () => {
  const { getPolicy } = api.services.guard;
  let looks = 0;
  api.services.guard.getPolicy = async (owner) => {
    const seen = await getPolicy(owner);
    if (looks++ === 0)
      api.services.store.policies.set(owner, [{ v: 1, version: 1, guard: { flow: 'deny' }, updatedAt: 1, updatedBy: 'bob' }]);
    return seen;
  };
  try {
    expect((await handrail(['policy', 'set', 'a', 'deny'])).code).toBe(0);
  } finally {
    api.services.guard.getPolicy = getPolicy;
  }
  expect(versions().at(-1)).toMatchObject({ version: 2, guard: { flow: 'deny', tool_policy: { a: 'deny' } } });
});

test("policy --history lists who set what; --deployment is the operator's", async () => {
  await handrail(['policy', 'set', 'a', 'deny']);
  await handrail(['policy', 'set', 'b', 'deny']);
  expect((await handrail(['policy', 'show', '--history'])).out).toMatch(/^2 .*alpha:owner.*"b".*\n1 .*alpha:owner.*\n$/);
  expect((await handrail(['policy', 'set', 'c', 'deny', '--deployment', '--json'])).out).toContain('"scope":"deployment"');
  const refused = await handrail(['policy', 'set', 'c', 'allow', '--deployment', '--json'], SECRETS.beta);
  expect([refused.code, JSON.parse(refused.out).error.code]).toEqual([1, 'FORBIDDEN']);
});

test('wrong words and rules that are not there are refused', async () => {
  expect(await handrail(['policy', 'set', 'a', 'maybe'])).toMatchObject({ code: 2, err: expect.stringContaining('allow, confirm, deny') });
  expect(await handrail(['policy', 'set', 'Not A Tool', 'deny'])).toMatchObject({ code: 1 });
  expect(await handrail(['policy', 'unset', 'a'])).toMatchObject({ code: 1, err: expect.stringContaining('has no rule "a"') });
  expect(versions()).toEqual([]);
});

test('answer answers a question', async () => {
  const run = fakeRun(1, { status: 'waiting' });
  api.services.store.runs.push(run);
  api.services.store.suspensions.push(fakeSuspension(run, ['ask_user'], { kind: 'question', arguments: { question: 'Which?' } }));
  const { code, out } = await handrail(['answer', `${run.runId}-3.c3-0`, 'the blue one']);
  expect([code, out]).toEqual([0, `ask_user is answered (${run.runId})\n`]);
  expect(api.services.decided.at(-1)?.decisions).toEqual([
    { approvalId: `${run.runId}-3.c3-0`, decision: 'answer', answer: 'the blue one' },
  ]);
});

test('runs show names the limits and rules of a run with the layer of each', async () => {
  api.services.store.runs.push(fakeRun(5));
  const { out } = await handrail(['runs', 'show', fakeRun(5).runId]);
  expect(out).toMatch(/limits +max_iterations 25 \(default\)/);
  expect(out).toContain('cost_usd at most 1 (app)');
  expect(out).toContain('write_file: confirm (app)');
  expect(out).toContain('execution.network none (skill)');
  expect(out).toContain('execution.timeout_s 20 (app)');
});
