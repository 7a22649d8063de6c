import { afterAll, beforeAll, describe } from 'vitest';
import { startTestStores, type TestStores } from '../../support/dynalite.ts';
import { guardStoreContract } from './guard-store.suite.ts';
import { linkStoreContract } from './link-store.suite.ts';
import { memoryStoreContract } from './memory-store.suite.ts';
import { runListsContract } from './run-lists.suite.ts';
import { runStoreContract } from './run-store.suite.ts';
import { transcriptContract } from './transcript.suite.ts';

describe('the DynamoDB stores', () => {
  let stores: TestStores;
  beforeAll(async () => {
    stores = await startTestStores();
  });
  afterAll(async () => stores.close());

  runStoreContract(() => stores);
  runListsContract(() => stores);
  transcriptContract(() => stores);
  guardStoreContract(() => stores);
  linkStoreContract(() => stores);
  memoryStoreContract(() => stores);
});
