import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dynamoMemoryStore } from '../../../lib/adapters/stores/dynamodb/memory-store.ts';
import { oldestPendingMs } from '../../../lib/adapters/stores/dynamodb/oldest-pending.ts';
import { TABLE_USE } from '../../../lib/adapters/stores/dynamodb/table-use.ts';
import { startTestStores, type TestStores, type Way } from '../../support/dynalite.ts';
import { Operations } from '../../support/operations.ts';
import { guardStoreContract } from './guard-store.suite.ts';
import { linkStoreContract } from './link-store.suite.ts';
import { memoryStoreContract } from './memory-store.suite.ts';
import { runListsContract } from './run-lists.suite.ts';
import { runStoreContract } from './run-store.suite.ts';
import { transcriptContract } from './transcript.suite.ts';

describe.each([
  { name: 'over HTTP', way: 'connection' },
  { name: 'without HTTP', way: 'direct' },
] as const satisfies { name: string; way: Way }[])('the DynamoDB stores $name', ({ way }) => {
  const operations = new Operations();
  let stores: TestStores;
  beforeAll(async () => {
    const started = await startTestStores({ way });
    operations.watch(started.deps.client);
    const { runs, guard, links, memory } = started;
    stores = {
      ...started,
      runs: operations.of('runs', runs),
      guard: operations.of('guard', guard),
      links: operations.of('links', links),
      memory: operations.of('memory', memory),
    };
  });
  afterAll(async () => stores.close());

  runStoreContract(() => stores);
  runListsContract(() => stores);
  transcriptContract(() => stores);
  guardStoreContract(() => stores);
  linkStoreContract(() => stores);
  memoryStoreContract(() => stores);

  it('ask of the tables what is listed, from which the rights of functions follow', async () => {
    await operations.of('ages', { oldestPendingMs }).oldestPendingMs(stores.deps, { getSuspension: async () => undefined });
    // A full memory is counted.
    const full = operations.of('memory', dynamoMemoryStore(stores.deps, 30, { valueBytes: 100, entries: 1 }));
    const add = (key: string) => full.write({ tenant: 'full', namespace: 'main' }, { key, value: 'v', updatedAt: 1 });
    await add('first');
    await expect(add('second')).rejects.toMatchObject({ code: 'RESOURCE_EXHAUSTED' });
    const listed = Object.entries(TABLE_USE).flatMap(([store, methods]) =>
      Object.entries(methods).map(([method, tables]): [string, string[]] => [
        `${store}.${method}`,
        Object.entries<readonly string[]>(tables).flatMap(([table, used]) => used.map((operation) => `${table} ${operation}`)),
      ]),
    );
    const sorted = (entries: Iterable<[string, Iterable<string>]>) =>
      Object.fromEntries([...entries].map(([method, used]) => [method, [...used].sort()]));
    expect(sorted(operations.byMethod)).toEqual(sorted(listed));
  });
});
