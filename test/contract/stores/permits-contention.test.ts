import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStores, type TestStores } from '../../support/dynalite.ts';
import { contend } from '../../support/permits-contention.ts';

let stores: TestStores;
beforeAll(async () => {
  stores = await startTestStores();
});
afterAll(() => stores.close());

test('fifty runs at once over one item: no level is exceeded, nobody is starved, nothing is left', { timeout: 120_000 }, async () => {
  const report = await contend(stores.guard, 50);
  expect(report).toMatchObject({ exceeded: 0, starved: 0, served: 200, left: 0 });
  expect(report.conflicts, 'there was contention').toBeGreaterThan(0);
});
