import { randomBytes } from 'node:crypto';
import { type LocalDynamo, startDynalite } from '../../lib/adapters/stores/dynalite.ts';
import {
  closeDynamoClient,
  createDynamoClient,
  type DynamoClientOptions,
  type RequestInfo,
} from '../../lib/adapters/stores/dynamodb/client.ts';
import { dynamoGuardStore } from '../../lib/adapters/stores/dynamodb/guard-store.ts';
import { dynamoLinkStore } from '../../lib/adapters/stores/dynamodb/link-store.ts';
import { dynamoMemoryStore } from '../../lib/adapters/stores/dynamodb/memory-store.ts';
import type { DynamoDeps } from '../../lib/adapters/stores/dynamodb/requests.ts';
import { dynamoRunStore } from '../../lib/adapters/stores/dynamodb/run-store.ts';
import type { Clock, Random } from '../../lib/core/ports/clock.ts';
import type { GuardStore } from '../../lib/core/ports/guard-store.ts';
import type { LinkStore } from '../../lib/core/ports/link-store.ts';
import type { MemoryStore } from '../../lib/core/ports/memory-store.ts';
import type { RunStore } from '../../lib/core/ports/run-store.ts';

export interface StoreSet {
  readonly runs: RunStore;
  readonly guard: GuardStore;
  readonly memory: MemoryStore;
}

export interface TestStores extends StoreSet {
  readonly links: LinkStore;
  readonly deps: DynamoDeps;
  readonly database: LocalDynamo;
  /** Every request sent so far, in order. */
  readonly requests: RequestInfo[];
  close(): Promise<void>;
}

const clock: Clock = { now: () => Date.now(), sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)) };
const random: Random = { bytes: (count) => randomBytes(count), number: () => Math.random() };

export type Way = 'connection' | 'direct';

/** Stores over a dynalite of their own: in memory unless `path` is given. */
export async function startTestStores({
  way = 'connection',
  ...options
}: {
  path?: string;
  socketPath?: string;
  way?: Way;
} = {}): Promise<TestStores> {
  const database = await startDynalite(options);
  const stores = connectStores(database, database[way]);
  return {
    ...stores,
    database,
    async close() {
      closeDynamoClient(stores.deps.client);
      await database.close();
    },
  };
}

/** Stores over a database that already runs, maybe behind another endpoint. */
export function connectStores(
  database: Pick<LocalDynamo, 'tables'>,
  connection: Omit<DynamoClientOptions, 'onRequest'>,
): StoreSet & Pick<TestStores, 'deps' | 'requests' | 'links'> {
  const requests: RequestInfo[] = [];
  const client = createDynamoClient({ ...connection, onRequest: (info) => requests.push(info) });
  const deps: DynamoDeps = { client, tables: database.tables, clock, random };
  return {
    deps,
    requests,
    runs: dynamoRunStore(deps),
    guard: dynamoGuardStore(deps),
    links: dynamoLinkStore(deps),
    memory: dynamoMemoryStore(deps, 30),
  };
}
