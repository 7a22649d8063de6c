import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { HandrailError } from '../../../lib/core/errors.ts';
import type { PlacedEvent } from '../../../lib/core/loop/event.ts';
import { fakeEvents, fakeRun, fakeSuspension, NOW } from './fake-services.ts';
import { jsonHeaders, SECRETS, send, startBearerServer, type TestServer } from './server.ts';

let fixture: TestServer;
beforeAll(async () => {
  fixture = await startBearerServer();
});
afterAll(() => fixture.server.close());
beforeEach(() => {
  fixture.services.started.length = 0;
  fixture.services.decided.length = 0;
  fixture.services.logged.length = 0;
  fixture.services.store.runs = [];
  fixture.services.store.suspensions = [];
  fixture.services.store.events = [];
});

const call = async (method: string, path: string, body?: unknown, secret: string = SECRETS.alpha) => {
  const answer = await send(fixture.server.port, method, path, jsonHeaders(secret), body === undefined ? undefined : JSON.stringify(body));
  return { ...answer, json: answer.body === '' ? undefined : JSON.parse(answer.body) };
};

describe('starting a run', () => {
  test('answers 202 with its ids and passes everything on, the caller from authentication', async () => {
    const body = {
      input: 'add up the sales',
      agent: 'default',
      sessionId: 's-1',
      skills: ['csv'],
      constraints: { max_iterations: 3, guard: { tool_policy: { 'write_*': 'deny' } } },
      idempotencyKey: 'k 1',
    };

    const { status, json } = await call('POST', '/runs', body);

    expect(status).toBe(202);
    expect(json).toEqual({ runId: fixture.services.store.runs[0]?.runId, sessionId: 's-1', status: 'running' });
    expect(fixture.services.started).toEqual([{ tenant: 'alpha', principal: 'alpha:owner', ...body }]);
  });

  test('tells which run keeps the session busy', async () => {
    fixture.services.failWith = new HandrailError('SESSION_BUSY', 'session s-1 is busy', { extra: { runId: fakeRun(1).runId } });

    const { status, json } = await call('POST', '/runs', { input: 'x' });

    expect(status).toBe(409);
    expect(json).toMatchObject({ code: 'SESSION_BUSY', status: 409, runId: fakeRun(1).runId, detail: 'session s-1 is busy' });
  });

  test('does not let extra facts of an error overwrite the members of the problem', async () => {
    fixture.services.failWith = new HandrailError('CONFLICT', 'taken', { extra: { status: 200, code: 'X', type: 'y' } });

    expect((await call('POST', '/runs', { input: 'x' })).json).toMatchObject({
      status: 409,
      code: 'CONFLICT',
      type: 'urn:handrail:problem:CONFLICT',
    });
  });

  test('hides and logs a failure of its own', async () => {
    fixture.services.failWith = new Error('password=hunter2 at /srv/x');

    const { status, json, headers } = await call('POST', '/runs', { input: 'x' });

    expect(status).toBe(500);
    expect(headers['content-type']).toBe('application/problem+json');
    expect(json.code).toBe('INTERNAL');
    expect(JSON.stringify(json)).not.toContain('hunter2');
    expect(fixture.services.logged).toHaveLength(1);
  });
});

describe('reading runs', () => {
  test('shows how a waiting run stands, with the approvals it waits for and where each constraint came from', async () => {
    const run = fakeRun(1, { status: 'waiting', plan: { next: 'suspend', suspensionId: `${fakeRun(1).runId}-3` } });
    fixture.services.store.runs = [run];
    fixture.services.store.suspensions = [fakeSuspension(run, ['write_file', 'execute_shell'])];

    const { status, json } = await call('GET', `/runs/${run.runId}`);

    expect(status).toBe(200);
    expect(json).toMatchObject({
      status: 'waiting',
      cost: 0.0042,
      effects: { 'fs.read': 2 },
      iterations: 2,
      toolCalls: 3,
      constraints: { origins: { 'guard.budget.cost_usd': 'app' } },
    });
    expect(json.approvals.map((approval: { approvalId: string; tool: string }) => [approval.approvalId, approval.tool])).toEqual([
      [`${run.runId}-3.c3-0`, 'write_file'],
      [`${run.runId}-3.c3-1`, 'execute_shell'],
    ]);
    expect(json.callsInFlight).toEqual([
      { callId: 'c3-0', tool: 'execute_python', category: 'code', namespace: 'main', startedAt: NOW - 12_000 },
    ]);
  });

  test('keeps to itself what nobody needs: hashes, task tokens, checker state', async () => {
    const run = fakeRun(1, {
      status: 'waiting',
      plan: { next: 'suspend', suspensionId: `${fakeRun(1).runId}-3` },
      guard: { rate_limit: { hidden: 'guard-state' } },
    });
    fixture.services.store.runs = [run];
    fixture.services.store.suspensions = [fakeSuspension(run, ['write_file'])];

    const { body } = await call('GET', `/runs/${run.runId}`);

    expect(body).not.toMatch(/secret-hash|task-token|guard-state|requestHash/);
  });

  test('shows a run that is being started as running, and one that ended with outcome, answer and error', async () => {
    fixture.services.store.runs = [
      fakeRun(1, { status: 'starting', runSeq: 0 }),
      fakeRun(2, {
        status: 'failed',
        outcome: 'error',
        answer: 'half',
        error: { code: 'TIMEOUT', message: 'the model did not answer' },
        endedAt: NOW,
      }),
    ];

    expect((await call('GET', `/runs/${fakeRun(1).runId}`)).json.status).toBe('running');
    expect((await call('GET', `/runs/${fakeRun(2).runId}`)).json).toMatchObject({
      status: 'failed',
      outcome: 'error',
      answer: 'half',
      error: { code: 'TIMEOUT' },
      endedAt: NOW,
    });
  });

  test('pages the list by cursor and filters it by status', async () => {
    fixture.services.store.runs = [fakeRun(1), fakeRun(2, { status: 'succeeded' }), fakeRun(3)];

    const first = await call('GET', '/runs?limit=2');
    const second = await call('GET', `/runs?limit=2&cursor=${first.json.cursor}`);

    expect(first.json.runs).toHaveLength(2);
    expect(second.json.runs.map((run: { runId: string }) => run.runId)).toEqual([fakeRun(3).runId]);
    expect(second.json).not.toHaveProperty('cursor');
    expect((await call('GET', '/runs?status=succeeded')).json.runs).toHaveLength(1);
  });

  test('cuts the input of a listed run without breaking a character', async () => {
    fixture.services.store.runs = [fakeRun(1, { input: `${'x'.repeat(199)}😀` })];

    const [run] = (await call('GET', '/runs')).json.runs;

    expect(run.input.isWellFormed()).toBe(true);
    expect(run.input.length).toBeLessThanOrEqual(200);
  });

  test('cancels with or without a body', async () => {
    fixture.services.store.runs = [fakeRun(1)];

    expect(await call('POST', `/runs/${fakeRun(1).runId}/cancel`, {})).toMatchObject({ status: 202, json: { runId: fakeRun(1).runId } });
    expect(
      await send(fixture.server.port, 'POST', `/runs/${fakeRun(1).runId}/cancel`, { authorization: `Bearer ${SECRETS.alpha}` }),
    ).toMatchObject({ status: 202 });
  });
});

describe('events', () => {
  test.each([
    ['many small steps', fakeEvents(300, 3), 2],
    [
      'a step that fills an answer alone, between others',
      [...fakeEvents(1), ...fakeEvents(2, 700).filter((event) => event.step === 2), ...fakeEvents(4).filter((event) => event.step > 2)],
      3,
    ],
    ['one huge step at the end', fakeEvents(1, 900), 1],
  ])('come whole steps at a time, none is skipped and no reader goes round in circles: %s', async (_what, events, expected) => {
    fixture.services.store.runs = [fakeRun(1, { status: 'succeeded', outcome: 'completed' })];
    fixture.services.store.events = events;

    const seen = new Set<string>();
    let after = 0;
    let answers = 0;
    for (let more = true; more && answers < 10; answers++) {
      const { json } = await call('GET', `/runs/${fakeRun(1).runId}/events?after=${after}`);
      const steps = new Set(json.events.map((event: PlacedEvent) => event.step));
      expect(json.events).toHaveLength(events.filter((event) => steps.has(event.step)).length);
      for (const event of json.events) seen.add(event.key);
      ({ next: after, more } = json);
    }

    expect([seen.size, answers]).toEqual([events.length, expected]);
  });

  test('show a sign of life of a call that has been at work for over five seconds, the same one in the same period', async () => {
    fixture.services.store.runs = [fakeRun(1)];
    fixture.services.store.events = fakeEvents(3);
    const path = `/runs/${fakeRun(1).runId}/events`;

    const { json } = await call('GET', path);
    const last = json.events.at(-1);

    expect(last).toMatchObject({
      type: 'tool.call.progress',
      step: 3,
      data: { callId: 'c3-0', tool: 'execute_python', elapsedMs: 10_000 },
    });
    expect((await call('GET', path)).json.events.at(-1)).toEqual(last);
    expect([...json.events].sort((a, b) => (a.key < b.key ? -1 : 1))).toEqual(json.events);
  });

  test('of an ended run hold no sign of life', async () => {
    fixture.services.store.runs = [fakeRun(1, { status: 'cancelled', outcome: 'cancelled' })];

    expect((await call('GET', `/runs/${fakeRun(1).runId}/events?after=2`)).json).toMatchObject({ events: [], next: 2, more: false });
  });
});

describe('approvals', () => {
  const waiting = () => {
    const run = fakeRun(1, { status: 'waiting' });
    fixture.services.store.runs = [run];
    fixture.services.store.suspensions = [fakeSuspension(run, ['write_file', 'write_file'])];
    return [`${run.runId}-3.c3-0`, `${run.runId}-3.c3-1`] as const;
  };

  test('are listed while pending, and by status afterwards', async () => {
    const [first, second] = waiting();
    await call('POST', `/approvals/${first}`, { decision: 'approve' });

    const pending = (await call('GET', '/approvals')).json.approvals;

    expect(pending.map((approval: { approvalId: string }) => approval.approvalId)).toEqual([second]);
    expect(pending[0]).toMatchObject({
      kind: 'tool',
      status: 'pending',
      tool: 'write_file',
      arguments: { path: 'report.md' },
      reason: 'tool policy: write_file is confirm (app)',
      expiresAt: NOW + 86_400_000,
    });
    expect((await call('GET', '/approvals?status=approved')).json.approvals).toHaveLength(1);
    expect((await call('GET', '/approvals?status=all')).json.approvals).toHaveLength(2);
  });

  test('show no secret, and an edit that leaves one masked runs with it', async () => {
    const key = `sk-${'a1B2'.repeat(6)}`;
    const run = fakeRun(1, { status: 'waiting', plan: { next: 'suspend', suspensionId: `${fakeRun(1).runId}-3` } });
    const asked = { path: 'report.md', content: `key: ${key}`, password: 'hunter2' };
    fixture.services.store.runs = [run];
    fixture.services.store.suspensions = [fakeSuspension(run, ['write_file', 'write_file'], { arguments: asked })];
    const [first, second] = [`${run.runId}-3.c3-0`, `${run.runId}-3.c3-1`];
    const shown = { path: 'report.md', content: 'key: ***', password: '***' };

    expect((await call('GET', `/approvals/${first}`)).json.arguments).toEqual(shown);
    expect((await call('GET', '/approvals')).json.approvals[0].arguments).toEqual(shown);
    expect((await call('GET', `/runs/${run.runId}`)).json.approvals[0].arguments).toEqual(shown);

    const edited = { ...shown, path: 'other.md' };
    const partly = await call('POST', `/approvals/${first}`, { decision: 'approve', arguments: { ...shown, content: 'my ***' } });
    expect(partly).toMatchObject({ status: 400, json: { code: 'BAD_REQUEST', field: 'arguments' } });
    expect(fixture.services.decided).toEqual([]);
    const one = await call('POST', `/approvals/${first}`, { decision: 'approve', arguments: edited, reason: `not ${key}` });
    const both = await call('POST', '/approvals', { decisions: [{ approvalId: second, decision: 'approve', arguments: edited }] });
    const runs = fixture.services.decided.flatMap(({ decisions }) => decisions.map((decision) => decision.arguments));
    expect(runs).toEqual([
      { ...asked, path: 'other.md' },
      { ...asked, path: 'other.md' },
    ]);
    expect(JSON.stringify([one.json, both.json])).not.toMatch(/a1B2a1B2|hunter2/);
  });

  test('are decided one by one, and the answer shows who decided', async () => {
    const [first] = waiting();

    const { status, json } = await call('POST', `/approvals/${first}`, { decision: 'reject', reason: 'not now' }, SECRETS.approve);

    expect(status).toBe(200);
    expect(json).toMatchObject({ approvalId: first, status: 'rejected', decision: { by: 'alpha:approve', how: 'api' } });
    expect(fixture.services.decided).toEqual([
      {
        tenant: 'alpha',
        principal: 'alpha:approve',
        how: 'api',
        decisions: [{ approvalId: first, decision: 'reject', reason: 'not now' }],
      },
    ]);
  });

  test('are decided together, in one use case', async () => {
    const ids = waiting();

    const { json } = await call('POST', '/approvals', { decisions: ids.map((approvalId) => ({ approvalId, decision: 'approve' })) });

    expect(json.approvals.map((approval: { status: string }) => approval.status)).toEqual(['approved', 'approved']);
    expect(fixture.services.decided).toHaveLength(1);
  });

  test('R17: one bare answer for whatever is pending is refused', async () => {
    waiting();

    const { status, json } = await call('POST', '/approvals', { decision: 'approve' });

    expect(status).toBe(400);
    expect(json).toMatchObject({ code: 'BAD_REQUEST', field: 'decisions' });
    expect(fixture.services.decided).toEqual([]);
  });

  test('R25: an empty answer is an answer', async () => {
    const [first] = waiting();

    await call('POST', `/approvals/${first}`, { decision: 'answer', answer: '' });

    expect(fixture.services.decided[0]?.decisions).toEqual([{ approvalId: first, decision: 'answer', answer: '' }]);
  });

  test('whose time is over show as expired before sweep has been there', async () => {
    const run = fakeRun(1, { status: 'waiting' });
    fixture.services.store.suspensions = [fakeSuspension(run, ['write_file'], { expiresAt: NOW })];

    expect((await call('GET', '/approvals')).json.approvals).toEqual([]);
    expect((await call('GET', `/approvals/${run.runId}-3.c3-0`)).json.status).toBe('expired');
  });
});

describe('decisions across several suspensions', () => {
  test('are taken suspension by suspension: one that is refused keeps no other from being taken', async () => {
    const runs = [fakeRun(1), fakeRun(2)];
    fixture.services.store.suspensions = runs.map((run) => fakeSuspension(run, ['write_file', 'execute_shell']));
    fixture.services.failWith = new HandrailError('ALREADY_DECIDED', 'rejected already', { field: 'decision' });
    const decisions = runs.map(({ runId }) => ({ approvalId: `${runId}-3.c3-0`, decision: 'approve' }));

    const { status, json } = await call('POST', '/approvals', { decisions });

    expect(status).toBe(200);
    expect(json.approvals.map((approval: { status: string }) => approval.status)).toEqual(['pending', 'approved']);
    expect(json.refused).toEqual([
      { approvalId: decisions[0]?.approvalId, code: 'ALREADY_DECIDED', detail: 'rejected already', field: 'decision' },
    ]);
    expect(fixture.services.decided.map((request) => request.decisions.length)).toEqual([1]);
  });

  test('of one suspension are refused as a whole, by the answer itself', async () => {
    const run = fakeRun(1);
    fixture.services.store.suspensions = [fakeSuspension(run, ['write_file', 'execute_shell'])];
    fixture.services.failWith = new HandrailError('FORBIDDEN', 'not your own');
    const decisions = [0, 1].map((n) => ({ approvalId: `${run.runId}-3.c3-${n}`, decision: 'approve' }));

    expect(await call('POST', '/approvals', { decisions })).toMatchObject({ status: 403, json: { code: 'FORBIDDEN' } });
  });

  test('fail as a whole when it is the server that fails', async () => {
    const runs = [fakeRun(1), fakeRun(2)];
    fixture.services.store.suspensions = runs.map((run) => fakeSuspension(run, ['write_file']));
    fixture.services.failWith = new Error('the table is gone');

    const decisions = runs.map(({ runId }) => ({ approvalId: `${runId}-3.c3-0`, decision: 'approve' }));
    expect(await call('POST', '/approvals', { decisions })).toMatchObject({ status: 500 });
  });
});

describe('the live policy', () => {
  const put = async (body: unknown, headers: Record<string, string>, secret: string = SECRETS.alpha, query = '') => {
    const all = { ...jsonHeaders(secret), ...headers };
    const answer = await send(fixture.server.port, 'PUT', `/policy${query}`, all, JSON.stringify(body));
    return { ...answer, json: JSON.parse(answer.body) };
  };
  const deny = { guard: { tool_policy: { execute_shell: 'deny' } } };
  beforeEach(() => fixture.services.store.policies.clear());

  test('is version 0 and says nothing before anybody sets it; the deployed guard stands beside it', async () => {
    const { status, json, headers } = await call('GET', '/policy');

    expect([status, headers['etag']]).toEqual([200, '"0"']);
    expect(json).toEqual({
      scope: 'tenant',
      version: 0,
      guard: {},
      warnings: [],
      nonTtyPending: true,
      deployed: { tool_policy: { write_file: 'confirm' } },
    });
  });

  test('names the rule that is wrong and what it may be', async () => {
    const { status, json } = await put({ guard: { tool_policy: { read_file: ['deny', 'perhaps'] } } }, { 'if-match': '"0"' });
    const field = 'guard.tool_policy.read_file.1';
    expect([status, json]).toMatchObject([400, { field, detail: `${field}: expected allow, confirm or deny, or { policy, when }` }]);
  });

  test('is set and warned of where a rule fits no tool, most likely misspelt', async () => {
    const { status, json } = await put({ guard: { tool_policy: { reed_file: 'deny', 'read_*': 'confirm' } } }, { 'if-match': '"0"' });
    expect([status, json.guard.tool_policy.reed_file]).toEqual([200, 'deny']);
    expect(json.warnings).toEqual(['tool_policy.reed_file: there is no tool "reed_file"; did you mean "read_file"?']);
    expect((await call('GET', '/policy')).json.warnings).toEqual(json.warnings);
  });

  test('is changed by whoever names the version that stands, and says who changed it and when', async () => {
    const first = await put(deny, { 'if-match': '"0"' });
    expect([first.status, first.headers['etag']]).toEqual([200, '"1"']);
    expect(first.json).toMatchObject({ version: 1, guard: deny.guard, updatedBy: 'alpha:owner', updatedAt: NOW });

    const second = await put({ guard: { flow: 'deny' } }, { 'if-match': '"1"' });
    expect(second.json).toMatchObject({ version: 2, guard: { flow: 'deny' } });
    expect((await call('GET', '/policy')).json).toMatchObject({ version: 2, guard: { flow: 'deny' } });
    expect((await call('GET', '/policy/history')).json.versions).toMatchObject([{ version: 2 }, { version: 1, guard: deny.guard }]);
  });

  test('answers 428 without If-Match and 412 for a version that no longer stands, and changes nothing', async () => {
    await put(deny, { 'if-match': '"0"' });
    expect(await put({ guard: {} }, {})).toMatchObject({ status: 428, json: { code: 'CONFLICT', status: 428, field: 'if-match' } });
    for (const tag of ['"0"', '"7"', '*', 'W/"1"', '1', '"1", "2"', '"x"'])
      expect(await put({ guard: {} }, { 'if-match': tag })).toMatchObject({ status: 412, json: { code: 'CONFLICT', status: 412 } });
    expect((await put({ guard: {} }, { 'if-match': '"0"' })).headers['etag']).toBe('"1"');
    expect((await call('GET', '/policy')).json).toMatchObject({ version: 1, guard: deny.guard });
  });

  test('refuses a rule that could match nothing and a condition that is no schema, by field', async () => {
    const cases = [
      [{ tool_policy: { 'Execute-Shell': 'deny' } }, 'guard.tool_policy.Execute-Shell'],
      [{ tool_policy: { 'write_*': { policy: 'deny', when: { typ: 'object' } } } }, 'guard.tool_policy.write_*.when'],
      [{ tool_policy: { a: ['deny', { policy: 'deny', when: { properties: { p: { pattern: '(' } } } }] } }, 'guard.tool_policy.a.1.when'],
      [{ tool_policy: { a: 'maybe' } }, 'guard.tool_policy.a'],
      [{ confirm_default: 'allow' }, 'guard.confirm_default'],
    ] as const;
    for (const [guard, field] of cases) expect(await put({ guard }, { 'if-match': '"0"' })).toMatchObject({ status: 400, json: { field } });
  });

  test('of the deployment is changed by the operator alone, whom other tenants are not shown', async () => {
    expect(await put(deny, { 'if-match': '"0"' }, SECRETS.beta, '?scope=deployment')).toMatchObject({ status: 403 });
    expect(await put(deny, { 'if-match': '"0"' }, SECRETS.alpha, '?scope=deployment')).toMatchObject({ status: 200 });
    const seen = (await call('GET', '/policy?scope=deployment', undefined, SECRETS.beta)).json;
    expect(seen).toMatchObject({ scope: 'deployment', version: 1, guard: deny.guard });
    expect(seen).not.toHaveProperty('updatedBy');
    expect((await call('GET', '/policy?scope=deployment')).json.updatedBy).toBe('alpha:owner');
    expect((await call('GET', '/policy', undefined, SECRETS.beta)).json.version).toBe(0);
  });

  test('needs the permission "policy" to change', async () => {
    expect(await put(deny, { 'if-match': '"0"' }, SECRETS.approve)).toMatchObject({ status: 403, json: { permission: 'policy' } });
  });
});

test('tools are listed without their handlers, and those that security leaves out with what they lack', async () => {
  const { json } = await call('GET', '/tools');
  expect(json.tools).toEqual([
    expect.objectContaining({ name: 'read_file', category: 'file', idempotent: true, effectTags: ['fs.read'], permissions: {} }),
  ]);
  expect(json.refused).toEqual([{ name: 'execute_shell', denied: ['execution.allowed_commands: "*"'] }]);
});

test('shows the skills there are without their texts, and what became of the folders that were rejected', async () => {
  const { status, json } = await call('GET', '/skills');
  expect(status).toBe(200);
  expect(json.skills).toEqual([
    {
      name: 'house-style',
      kind: 'prompt',
      description: 'How texts are written here.',
      file: 'skills/house-style/SKILL.md',
      requires: [],
      constraints: { guard: { max_tool_calls: 2 } },
      files: ['references/words.md'],
    },
  ]);
  expect(json.reports.map(({ file, status: state }: { file: string; status: string }) => [file, state])).toEqual([
    ['skills/house-style/SKILL.md', 'accepted'],
    ['skills/broken/SKILL.md', 'rejected'],
  ]);
  expect(json.reports[1].problems).toEqual([{ file: 'skills/broken/SKILL.md', line: 3, reason: 'description: there is none' }]);
});

test('HEAD answers as GET would, without the body', async () => {
  expect(await send(fixture.server.port, 'HEAD', '/health')).toMatchObject({
    status: 200,
    body: '',
    headers: { 'content-type': 'application/json; charset=utf-8' },
  });
});
