import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dynamoMemoryStore } from '../../../lib/adapters/stores/dynamodb/memory-store.ts';
import { TABLES } from '../../../lib/adapters/stores/dynamodb/tables.ts';
import type { PlacedEvent } from '../../../lib/core/loop/event.ts';
import { runSchema } from '../../../lib/core/loop/run.ts';
import { readStored } from '../../../lib/core/loop/stored-value.ts';
import { startTestStores, type TestStores } from '../../support/dynalite.ts';
import {
  assistantMessage,
  newApproval,
  newRun,
  newSuspension,
  newTenant,
  nextStep,
  observation,
  prefixOf,
  userMessage,
  writeOf,
} from './samples.ts';

describe('items in DynamoDB', () => {
  let stores: TestStores;
  beforeAll(async () => {
    stores = await startTestStores();
  });
  afterAll(async () => stores.close());

  const operations = (from: number): string[] => stores.requests.slice(from).map(({ operation }) => operation);

  it('cost one request each for loadStep, a window of the transcript, up to 25 items and the commit', async () => {
    const { run } = await stores.runs.createRun(newRun(newTenant()));
    const [a, b] = [prefixOf(1, 1, 'a'), prefixOf(1, 2, 'b')];
    await stores.runs.write(run, run.sessionId, [writeOf(a, undefined, userMessage('hi'))], []);
    const start = stores.requests.length;
    await stores.runs.loadStep(run, `${run.runId}-0`);
    await stores.runs.readTranscript(run, a, 80);
    const events: PlacedEvent[] = [{ key: 'EVT#000001#0#0000', step: 1, type: 'run.started', at: 1, data: {} }];
    await stores.runs.write(
      run,
      run.sessionId,
      [writeOf(b, a, ...Array.from({ length: 24 }, (_, n) => observation(`c1-${n}`, 'x')))],
      events,
    );
    await stores.runs.commit(nextStep(run, 'b'), { step: 0, execution: 1, finish: false });
    expect(operations(start)).toEqual(['BatchGetItemCommand', 'QueryCommand', 'BatchWriteItemCommand', 'UpdateItemCommand']);
    expect(stores.requests.slice(start).every(({ bytesSent, capacityUnits }) => bytesSent > 0 && capacityUnits !== undefined)).toBe(true);
  });

  it('cost no request when there is nothing to write, and as few as the limits allow for much', async () => {
    const run = newRun(newTenant());
    const start = stores.requests.length;
    await stores.runs.write(run, run.sessionId, [], []);
    expect(operations(start)).toEqual([]);
    await stores.runs.write(
      run,
      run.sessionId,
      [writeOf(prefixOf(1, 1, 'a'), undefined, ...Array.from({ length: 60 }, () => userMessage('x')))],
      [],
    );
    expect(operations(start)).toHaveLength(3);
    // 25 items of 340 KB are 8.5 MB of text, but quotes take two bytes each on the wire.
    await stores.runs.write(
      run,
      run.sessionId,
      [writeOf(prefixOf(1, 2, 'a'), undefined, ...Array.from({ length: 25 }, () => userMessage('"'.repeat(170_000))))],
      [],
    );
    expect(Math.max(...stores.requests.map(({ bytesSent }) => bytesSent))).toBeLessThan(16 * 1024 * 1024);
  });

  it('read no more of a long history than of a short one', async () => {
    const key = { tenant: newTenant(), sessionId: 's-1', runId: newRun('t').runId };
    const prefixes = Array.from({ length: 300 }, (_, n) => prefixOf(1, n + 1, 'a'));
    await stores.runs.write(
      key,
      's-1',
      prefixes.map((prefix, n) => writeOf(prefix, prefixes[n - 1], assistantMessage('x'.repeat(1_000)))),
      [],
    );
    const start = stores.requests.length;
    await stores.runs.readTranscript(key, prefixes[50], 20);
    await stores.runs.readTranscript(key, prefixes[299], 20);
    const [short, long] = stores.requests.slice(start);
    expect(operations(start)).toEqual(['QueryCommand', 'QueryCommand']);
    expect(long?.capacityUnits).toBe(short?.capacityUnits);
  });

  it('that are broken or of an unknown version are refused with their key', async () => {
    const run = newRun(newTenant());
    await stores.runs.createRun(run);
    const key = { pk: `T#${run.tenant}#R#${run.runId}`, sk: 'RUN' };
    const { client, tables } = stores.deps;
    const { Item: item } = await client.send(new GetCommand({ TableName: tables.sessions, Key: key }));
    for (const broken of [{ v: 2 }, { frames: '[' }, { frames: '[]' }, { status: 'sleeping' }]) {
      await client.send(new PutCommand({ TableName: tables.sessions, Item: { ...item, ...broken } }));
      await expect(stores.runs.getRun(run)).rejects.toMatchObject({ code: 'INTERNAL', message: expect.stringContaining(key.pk) });
    }
  });

  it('of a commit that lost one of its messages are not passed off as the whole history', async () => {
    const key = { tenant: newTenant(), sessionId: 's-1', runId: newRun('t').runId };
    const [a, b] = [prefixOf(1, 1, 'a'), prefixOf(1, 2, 'b')];
    await stores.runs.write(key, 's-1', [writeOf(b, a, userMessage('two'))], []);
    await expect(stores.runs.readTranscript(key, b, 10)).rejects.toMatchObject({ code: 'INTERNAL', message: expect.stringContaining(a) });
  });

  it('of memory are counted, and a count that a crash left too high is made right', async () => {
    const scope = { tenant: newTenant(), namespace: 'main' };
    const memory = dynamoMemoryStore(stores.deps, 30, { entries: 3, valueBytes: 100 });
    const write = (key: string): Promise<void> => memory.write(scope, { key, value: 'x', updatedAt: 1 });
    for (const key of ['a', 'b', 'c']) await write(key);
    await expect(write('d')).rejects.toMatchObject({ code: 'RESOURCE_EXHAUSTED' });
    await write('a');
    await memory.remove(scope, 'b');
    await stores.deps.client.send(
      new PutCommand({ TableName: stores.deps.tables.memory, Item: { pk: `T#${scope.tenant}#N#main`, sk: 'COUNT', entries: 3 } }),
    );
    await write('d');
    await expect(write('e')).rejects.toMatchObject({ code: 'RESOURCE_EXHAUSTED' });
    expect((await memory.search(scope, { limit: 10 })).items.map(({ key }) => key)).toEqual(['a', 'c', 'd']);
  });

  it('of memory are found by text in any case', async () => {
    const scope = { tenant: newTenant(), namespace: 'main' };
    await stores.memory.write(scope, { key: 'a', value: 'Buy MILK', updatedAt: 1 });
    expect((await stores.memory.search(scope, { text: 'milk', limit: 5 })).items).toHaveLength(1);
  });

  it('of a suspension are due when the first approval expires', async () => {
    const suspension = newSuspension(newTenant(), [newApproval('c3-0', { expiresAt: 9_000 }), newApproval('c3-1', { expiresAt: 8_000 })]);
    await stores.guard.openSuspension(suspension);
    expect((await stores.guard.getSuspension(suspension.suspensionId))?.dueAt).toBe(8_000);
  });

  it('have a key attribute for every index and a TTL attribute that no key uses', () => {
    for (const { hash, range, indexes, ttl } of Object.values(TABLES)) {
      expect([hash.name, range.name]).toEqual(['pk', 'sk']);
      expect(indexes.flatMap((index) => [index.hash.name, index.range.name])).not.toContain(ttl);
    }
  });
});

describe('the database of a laptop', () => {
  it('keeps what was written over a restart, on a socket only its owner can reach', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'handrail-'));
    const options = { path: join(directory, 'database'), socketPath: join(directory, 'run', 'dynamodb.sock') };
    const { run } = await withStores(options, (stores) => stores.runs.createRun(newRun(newTenant())));
    const found = await withStores(options, async (stores) => {
      expect((await stat(join(directory, 'run'))).mode & 0o777).toBe(0o700);
      expect(stores.database.connection.socketPath).toBe(options.socketPath);
      return { run: await stores.runs.getRun(run), list: await stores.runs.listRuns(run.tenant, { limit: 5 }) };
    });
    expect(found.run).toStrictEqual(run);
    expect(found.list.items).toHaveLength(1);
    await rm(directory, { recursive: true });
  });

  it('listens on a port of the loopback where a socket path would be too long', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'handrail-'));
    await withStores({ socketPath: join(directory, 'x'.repeat(120), 'dynamodb.sock') }, async (stores) => {
      expect(stores.database.connection).toMatchObject({ endpoint: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) });
      expect(await stores.guard.getPermits()).toEqual({ ver: 0, leases: [], waiting: [] });
    });
    await rm(directory, { recursive: true });
  });

  it('survives a client that goes away in the middle of a request', async () => {
    await withStores({}, async (stores) => {
      const url = new URL(stores.database.connection.endpoint ?? '');
      for (let time = 0; time < 5; time++) {
        const socket = connect(Number(url.port), url.hostname);
        socket.write('POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nhalf a requ');
        await once(socket, 'connect');
        await stores.guard.getPermits();
        socket.resetAndDestroy();
      }
      expect(await stores.guard.getPermits()).toEqual({ ver: 0, leases: [], waiting: [] });
    });
  });

  async function withStores<T>(options: Parameters<typeof startTestStores>[0], use: (stores: TestStores) => Promise<T>): Promise<T> {
    const stores = await startTestStores(options);
    try {
      return await use(stores);
    } finally {
      await stores.close();
    }
  }
});

/** Items as earlier versions wrote them. Files are added when a shape changes, never edited. `v1-values`: values that are items of their own. */
describe('stored items of earlier versions', () => {
  const directory = new URL('../../fixtures/stores/', import.meta.url);

  it.each(readdirSync(directory))('%s is still readable', async (file) => {
    const { items, expected } = JSON.parse(readFileSync(new URL(file, directory), 'utf8'));
    const stores = await startTestStores();
    for (const { table, item } of items) await stores.deps.client.send(new PutCommand({ TableName: table, Item: item }));
    const [key, suspensionId] = [{ tenant: 'acme', runId: expected.run.runId }, expected.suspension.suspensionId];
    const session = { tenant: 'acme', sessionId: expected.session.sessionId };
    const inputs = await stores.runs.loadStep(key, suspensionId);
    // What has been added since is what it was begun with: a default.
    expect(inputs).toEqual({
      run: runSchema.parse(expected.run),
      policies: [expected.policy],
      permits: expected.permits,
      suspension: expected.suspension,
    });
    const stored = await stores.runs.getSession(session);
    expect(stored).toEqual(expected.session);
    const values = { ...stored?.stored, ...inputs.run?.storedChanges };
    expect(await readStored(stores.runs, session, values)).toEqual(expected.values ?? {});
    expect(await stores.runs.readTranscript(session, expected.head, 100)).toEqual(expected.transcript);
    expect(await stores.runs.readEvents(key, 0)).toEqual(expected.events);
    expect(await stores.memory.read({ tenant: 'acme', namespace: 'main' }, 'colour')).toEqual(expected.memory);
    await stores.close();
  });
});
