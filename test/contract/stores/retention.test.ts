import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dropExpired } from '../../../lib/adapters/stores/drop-expired.ts';
import { dynamoMemoryStore } from '../../../lib/adapters/stores/dynamodb/memory-store.ts';
import { dynamoRunStore } from '../../../lib/adapters/stores/dynamodb/run-store.ts';
import { eventKey } from '../../../lib/core/loop/event.ts';
import { ttlAfter } from '../../../lib/core/retention.ts';
import { startTestStores, type TestStores } from '../../support/dynalite.ts';
import { TestClock } from '../../support/time.ts';
import {
  assistantMessage,
  newRun,
  newRunId,
  newSession,
  newTenant,
  nextStep,
  observation,
  prefixOf,
  userMessage,
  writeOf,
} from './samples.ts';

const DAY_MS = 24 * 3600 * 1000;
const clock = new TestClock(1_800_000_000_000);
let stores: TestStores;
beforeAll(async () => {
  stores = await startTestStores();
});
afterAll(() => stores.close());

const deps = () => ({ ...stores.deps, clock });
const runs = (days?: number) => dynamoRunStore(deps(), days);
const memory = () => dynamoMemoryStore(deps(), 30);
const ttlOf = async (table: 'sessions' | 'memory', pk: string, sk: string): Promise<unknown> =>
  (await stores.deps.client.send(new GetCommand({ TableName: table, Key: { pk, sk } }))).Item?.['ttl'];

describe('memory', () => {
  it('of a frame of one run expires some time after it was last written, with its count; that of the tenant stays', async () => {
    const tenant = newTenant();
    const own = { tenant, namespace: 'skill_runtime.note_c1-0', runId: newRunId() };
    const entry = { key: 'k', value: 'v', updatedAt: 1 };
    await memory().write(own, entry);
    await memory().write({ tenant, namespace: 'main' }, entry);
    clock.advance(20 * DAY_MS);
    await memory().write(own, { ...entry, key: 'later' });
    clock.advance(11 * DAY_MS);
    await dropExpired(deps());
    expect((await memory().search(own, { limit: 10 })).items.map(({ key }) => key)).toEqual(['later']);
    clock.advance(20 * DAY_MS);
    await dropExpired(deps());
    expect((await memory().search(own, { limit: 10 })).items).toEqual([]);
    expect(await ttlOf('memory', `T#${tenant}#R#${own.runId}#N#${own.namespace}`, 'COUNT')).toBeUndefined();
    expect(await memory().read({ tenant, namespace: 'main' }, 'k')).toEqual(entry);
  });

  it('of a frame is another in another run, although namespaces are named alike', async () => {
    const scope = { tenant: newTenant(), namespace: 'skill_runtime.note_c1-0' };
    await memory().write({ ...scope, runId: newRunId() }, { key: 'k', value: 'v', updatedAt: 1 });
    expect(await memory().read({ ...scope, runId: newRunId() }, 'k')).toBeUndefined();
  });
});

describe('runs', () => {
  it('are kept without an end unless an end is configured', async () => {
    const run = newRun(newTenant());
    await runs().createRun(run);
    await runs().write(run, run.sessionId, [writeOf(prefixOf(1, 1, 'a'), undefined, userMessage('one'))], []);
    clock.advance(4000 * DAY_MS);
    await dropExpired(deps());
    expect(await runs().getRun(run)).toEqual(run);
    expect(await runs().readTranscript(run, prefixOf(1, 1, 'a'), 10)).toHaveLength(1);
  });

  it('go with their events and messages, counted from the last commit; the session stays', async () => {
    const run = newRun(newTenant(), { status: 'starting' });
    const store = runs(30);
    await store.createRun(run);
    await store.swapSession(newSession(run), undefined);
    await store.markRunning({ ...run, status: 'running' });
    const event = { type: 'run.started', at: 1, data: {}, step: 0, key: eventKey(0, 'reason', 0) } as const;
    const [a, b] = [prefixOf(1, 1, 'a'), prefixOf(1, 2, 'b')];
    await store.write(run, run.sessionId, [writeOf(a, undefined, userMessage('one'))], [event]);
    clock.advance(20 * DAY_MS);
    const next = nextStep({ ...run, status: 'running' }, 'b');
    await store.write(run, run.sessionId, [writeOf(b, a, assistantMessage('two'))], []);
    expect(await store.commit(next, { step: 0, execution: 1, finish: false })).toEqual({ committed: true });
    clock.advance(20 * DAY_MS);
    await dropExpired(deps());
    expect(await store.getRun(run)).toEqual(next);
    expect(await store.readEvents(run, 0)).toEqual([]);
    const left = await store.readTranscript(run, b, 10);
    expect(left.map(({ message }) => message.role)).toEqual(['assistant']);
    clock.advance(20 * DAY_MS);
    await dropExpired(deps());
    expect([await store.getRun(run), await store.readTranscript(run, b, 10)]).toEqual([undefined, []]);
    expect(await store.getSession(run)).toBeDefined();
  });

  it('that are committed without a configured end lose the one they had', async () => {
    const run = newRun(newTenant());
    await runs(30).createRun(run);
    const pk = `T#${run.tenant}#R#${run.runId}`;
    expect(await ttlOf('sessions', pk, 'RUN')).toBe(ttlAfter(clock.now(), 30));
    await runs().commit(nextStep(run, 'b'), { step: 0, execution: 1, finish: false });
    expect(await ttlOf('sessions', pk, 'RUN')).toBeUndefined();
  });
});

describe('a conversation whose beginning has expired', () => {
  const written = async (days?: number) => {
    const run = newRun(newTenant());
    const [a, b, c] = [prefixOf(1, 1, 'a'), prefixOf(1, 2, 'b'), prefixOf(1, 3, 'c')];
    await runs(days).write(
      run,
      run.sessionId,
      [
        writeOf(a, undefined, userMessage('one'), assistantMessage('two', ['c1-0'])),
        writeOf(b, a, observation('c1-0', 'data'), assistantMessage('three')),
        writeOf(c, b, userMessage('four'), assistantMessage('five')),
      ],
      [],
    );
    const remove = async (sk: string) => {
      const expired = { pk: `T#${run.tenant}#S#${run.sessionId}`, sk, ttl: 1 };
      await stores.deps.client.send(new PutCommand({ TableName: 'sessions', Item: expired }));
      await dropExpired(deps());
    };
    const roles = async () => (await runs(days).readTranscript(run, c, 100)).map(({ message }) => message.role);
    return { a, b, remove, roles };
  };

  it('begins with what is left, and with no result whose call is gone', async () => {
    const { a, b, remove, roles } = await written(30);
    await remove(`${a}000`);
    expect(await roles()).toEqual(['assistant', 'observation', 'assistant', 'user', 'assistant']);
    await remove(`${a}001`);
    expect(await roles()).toEqual(['assistant', 'user', 'assistant']);
    // The service drops items in any order.
    await remove(`${b}001`);
    expect(await roles()).toEqual(['user', 'assistant']);
  });

  it('is broken where nothing is to expire', async () => {
    const { a, remove, roles } = await written();
    await remove(`${a}000`);
    await expect(roles()).rejects.toMatchObject({ code: 'INTERNAL' });
  });
});

it('an item that is written again while it is dropped stays', async () => {
  const item = { pk: 'T#again', sk: 'K#a', ttl: 1 };
  await stores.deps.client.send(new PutCommand({ TableName: 'memory', Item: item }));
  const { client } = stores.deps;
  const send = client.send.bind(client);
  const racing = Object.create(client, {
    send: {
      value: async (command: Parameters<typeof send>[0]) => {
        const answer = await send(command);
        if (command.constructor.name === 'ScanCommand')
          await send(new PutCommand({ TableName: 'memory', Item: { ...item, ttl: ttlAfter(clock.now(), 1) } }));
        return answer;
      },
    },
  });
  expect(await dropExpired({ ...deps(), client: racing })).toBe(0);
  expect(await ttlOf('memory', item.pk, item.sk)).toBe(ttlAfter(clock.now(), 1));
});
