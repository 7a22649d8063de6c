import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createCli } from '../../../lib/cli/cli.ts';
import { fakeEvents, fakeRun, NOW } from '../api/fake-services.ts';
import { SECRETS, startBearerServer, type TestServer } from '../api/server.ts';
import { fakeContext } from './fake-context.ts';

let api: TestServer;
beforeAll(async () => {
  api = await startBearerServer();
});
afterAll(() => api.server.close());

const run = fakeRun(1, { sessionId: 's-1' });
const prefix = (step: number): string => `MSG#main#000001#00000${step}#a#`;
for (const frame of run.frames) frame.head = prefix(3);

beforeEach(() => {
  const { store } = api.services;
  store.runs = [run];
  store.events = fakeEvents(3);
  store.commits.length = 0;
  for (const step of [1, 2, 3])
    store.commits.push({
      prefix: prefix(step),
      prev: step === 1 ? undefined : prefix(step - 1),
      messages: [{ role: 'user', text: 'x'.repeat(1_800_000) }],
    });
  store.sessions.splice(0, 9, { v: 1, tenant: 'alpha', sessionId: 's-1', createdAt: NOW, runSeq: 1, state: { colour: 'blue' } });
});

async function handrail(args: readonly string[], secret: string = SECRETS.alpha) {
  const context = fakeContext({ env: { HANDRAIL_URL: api.server.url, HANDRAIL_SECRET: secret } });
  await createCli(context).parseAsync(['node', 'handrail', ...args]);
  return { code: context.code(), out: context.out(), err: context.err() };
}

test('export writes all pages of a run as one JSON value', async () => {
  const { code, out } = await handrail(['export', run.runId]);
  expect(code).toBe(0);
  const whole = JSON.parse(out);
  expect(whole).toMatchObject({ v: 1, run: { runId: run.runId } });
  expect(whole.messages.map(({ step }: { step: number }) => step)).toEqual([1, 2, 3]);
  expect(whole.events).toHaveLength(6);
  expect(whole.next).toBeUndefined();
});

test('export of a run that nobody has fails and writes no half', async () => {
  expect(await handrail(['export', fakeRun(9).runId])).toMatchObject({ code: 1, out: '', err: expect.stringContaining('nothing here') });
});

test('sessions show and delete', async () => {
  expect((await handrail(['sessions', 'show', 's-1'])).out).toMatch(/state +\{"colour":"blue"\}\nruns +r-/);
  expect(JSON.parse((await handrail(['sessions', 'show', 's-1', '--json'])).out)).toMatchObject({ state: { colour: 'blue' } });
  expect((await handrail(['sessions', 'delete', 's-1'], SECRETS.read)).code).toBe(1);
  expect(await handrail(['sessions', 'delete', 's-1'])).toMatchObject({ code: 0, out: expect.stringContaining('s-1 is deleted') });
  expect((await handrail(['sessions', 'delete', 's-1'])).err).toContain('nothing here');
});

test('runs show says what AWS takes of a run', async () => {
  expect((await handrail(['runs', 'show', run.runId])).out).toMatch(/^AWS +\$0\.\d{4} \(0 transitions; Lambda and DynamoDB estimated\)$/m);
});
