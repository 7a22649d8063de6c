import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { oldestPendingMs } from '../../../lib/adapters/stores/dynamodb/oldest-pending.ts';
import type { Suspension } from '../../../lib/core/guard/approvals/suspension.ts';
import { startTestStores, type TestStores } from '../../support/dynalite.ts';
import { openSuspension, T0, TTL_MS } from '../../support/guard.ts';

let stores: TestStores;
beforeAll(async () => {
  stores = await startTestStores();
});
afterAll(() => stores.close());

/** A suspension whose one request was made `age` ms before T0. */
function asked(n: number, age: number): Suspension {
  const base = openSuspension();
  const [approval] = Object.values(base.approvals);
  if (approval === undefined) throw new Error('one approval');
  const requestedAt = T0 - age;
  const expiresAt = requestedAt + TTL_MS;
  return {
    ...base,
    suspensionId: `r-${'0'.repeat(25)}${n}-3`,
    approvals: { [approval.callId]: { ...approval, requestedAt, expiresAt } },
    dueAt: expiresAt,
  };
}

it('the request that has waited longest is found by one Query, and nothing when all are decided', async () => {
  const deps = { ...stores.deps, clock: { ...stores.deps.clock, now: () => T0 } };
  expect(await oldestPendingMs(deps, stores.guard)).toBe(0);
  for (const [n, age] of [
    [1, 10_000],
    [2, 50_000],
    [3, 30_000],
  ] as const)
    await stores.guard.openSuspension(asked(n, age));
  const before = stores.requests.length;
  expect(await oldestPendingMs(deps, stores.guard)).toBe(50_000);
  expect(stores.requests.slice(before).filter(({ operation }) => operation === 'QueryCommand')).toHaveLength(1);
  const decision = { by: 'ann', at: T0, how: 'api' };
  const { suspensionId } = asked(2, 0);
  await stores.guard.changeSuspension(suspensionId, {
    kind: 'decide',
    now: T0,
    decisions: [{ callId: 'c3-0', status: 'approved', decision }],
  });
  expect(await oldestPendingMs(deps, stores.guard)).toBe(30_000);
  // Those that cannot be read, by key or by body, are due before it and hide it no more than they stop the pass.
  for (let n = 10; n < 35; n++) {
    const [pk, sk] = n % 2 === 0 ? [`SUS#r-${'0'.repeat(24)}${n}-3`, 'SUS'] : [`NEW#${n}`, 'SUS'];
    await stores.deps.client.send(
      new PutCommand({ TableName: stores.deps.tables.guard, Item: { pk, sk, v: 2, dueShard: '0', dueAt: T0 - n } }),
    );
  }
  expect(await oldestPendingMs(deps, stores.guard)).toBe(30_000);
});
