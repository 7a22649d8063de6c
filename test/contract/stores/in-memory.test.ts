import { describe } from 'vitest';
import { memoryLinkStore } from '../../support/memory-link-store.ts';
import { memoryStore } from '../../support/memory-store.ts';
import { memoryStores } from '../../support/memory-stores.ts';
import { guardStoreContract } from './guard-store.suite.ts';
import { linkStoreContract } from './link-store.suite.ts';
import { memoryStoreContract } from './memory-store.suite.ts';
import { runListsContract } from './run-lists.suite.ts';
import { runStoreContract } from './run-store.suite.ts';
import { transcriptContract } from './transcript.suite.ts';

/** The stores that other tests stand on must not allow what the real ones refuse. */
describe('the in-memory stores of the tests', () => {
  const { runs, guard, state } = memoryStores();
  const links = memoryLinkStore(state);
  // They take sizes as they come, and a position in the list as the cursor.
  const can = { sizes: false, cursors: false };
  const stores = { runs, guard, memory: memoryStore() };

  runStoreContract(() => stores, can);
  runListsContract(() => stores, can);
  transcriptContract(() => stores);
  guardStoreContract(() => stores, can);
  linkStoreContract(() => ({ guard, links }));
  memoryStoreContract(() => stores, can);
});
