import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { sweep } from '../../../lib/core/loop/sweep.ts';
import { startTestStores, type TestStores } from '../../support/dynalite.ts';
import { openSuspension, SUSPENSION_ID, T0, TTL_MS, waitingRun } from '../../support/guard.ts';
import { LoopRig } from '../../support/loop-rig.ts';

let stores: TestStores;
beforeAll(async () => {
  stores = await startTestStores();
});
afterAll(() => stores.close());

/** Items of a version that is not known here, by body or by key: as after going back from an upgrade. */
const UNREADABLE = [
  { table: 'sessions', pk: (n: number) => `T#t1#R#r-1${String(n).padStart(25, '0')}`, sk: 'RUN' },
  { table: 'sessions', pk: (n: number) => `T2#t1#R#${n}`, sk: 'RUN' },
  { table: 'guard', pk: (n: number) => `SUS#r-1${String(n).padStart(25, '0')}-1`, sk: 'SUS' },
  { table: 'guard', pk: (n: number) => `SUS2#${n}`, sk: 'SUS' },
] as const;
const EACH = 60;

it('items that cannot be read, more than a page of them, keep nothing else from sweep and are put off as they are', {
  timeout: 60_000,
}, async () => {
  const { client, tables } = stores.deps;
  const put = (table: string, item: Record<string, unknown>) => client.send(new PutCommand({ TableName: table, Item: item }));
  for (const { table, pk, sk } of UNREADABLE)
    for (let n = 0; n < EACH; n++) await put(tables[table], { pk: pk(n), sk, v: 2, dueShard: '0', dueAt: T0 - 1_000, body: { kept: n } });
  await stores.runs.createRun(waitingRun());
  await stores.guard.openSuspension(openSuspension());
  const rig = new LoopRig();
  rig.clock.advance(T0 + TTL_MS - rig.clock.now());
  const deps = { ...rig.deps, runs: stores.runs, guard: stores.guard };
  expect(await sweep(deps)).toMatchObject({ runs: 1, suspensions: 1, failed: UNREADABLE.length * EACH, stuck: 0 });
  expect((await stores.guard.getSuspension(SUSPENSION_ID))?.approvals['c3-0']?.status).toBe('expired');
  for (const { table, pk, sk } of UNREADABLE) {
    const { Item: item } = await client.send(new GetCommand({ TableName: tables[table], Key: { pk: pk(7), sk } }));
    const dueAt = rig.clock.now() + 60_000;
    expect(item).toEqual({ pk: pk(7), sk, v: 2, dueShard: '0', dueAt, body: { kept: 7 }, deferral: { dueAt, ms: 60_000 } });
  }
  expect(await sweep(deps)).toMatchObject({ failed: 0 });
});
