import { afterAll, beforeAll, describe } from 'vitest';
import { startTestStores, type TestStores, type Way } from '../../support/dynalite.ts';
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
  let stores: TestStores;
  beforeAll(async () => {
    stores = await startTestStores({ way });
  });
  afterAll(async () => stores.close());

  runStoreContract(() => stores);
  runListsContract(() => stores);
  transcriptContract(() => stores);
  guardStoreContract(() => stores);
  linkStoreContract(() => stores);
  memoryStoreContract(() => stores);
});
