/**
 * The three tables as plain data (design section 4). The laptop's database and the CDK stack are both made from this,
 * so neither can have an index the other lacks. Imports nothing.
 */
export interface AttributeDescription {
  readonly name: string;
  /** DynamoDB's own letters: string, number. */
  readonly type: 'S' | 'N';
}

export interface IndexDescription {
  readonly name: string;
  readonly hash: AttributeDescription;
  readonly range: AttributeDescription;
  /** Attributes copied besides the keys. Few, so that a commit rarely costs an index write. */
  readonly include: readonly string[];
}

export interface TableDescription {
  readonly hash: AttributeDescription;
  readonly range: AttributeDescription;
  readonly indexes: readonly IndexDescription[];
  /** Epoch seconds after which DynamoDB may drop the item; it only cleans, nothing compares it. */
  readonly ttl: string;
}

export const TABLE_IDS = ['sessions', 'guard', 'memory'] as const;
export type TableId = (typeof TABLE_IDS)[number];
/** Names of the deployed tables. */
export type TableNames = Readonly<Record<TableId, string>>;

const pk = { name: 'pk', type: 'S' } as const;
const sk = { name: 'sk', type: 'S' } as const;
const tenant = { name: 'tenant', type: 'S' } as const;
/** `<createdAt, 15 digits>#<id>`: newest first when read backwards. Only items that lists show have it. */
const listKey = { name: 'listKey', type: 'S' } as const;

/** Sparse: an item without `dueAt` is not in it. One shard ({@link DUE_SHARD}) until sweeping gets hot. */
const due: IndexDescription = { name: 'due', hash: { name: 'dueShard', type: 'S' }, range: { name: 'dueAt', type: 'N' }, include: [] };

export const DUE_SHARD = '0';

export const TABLES: Readonly<Record<TableId, TableDescription>> = {
  sessions: {
    hash: pk,
    range: sk,
    indexes: [{ name: 'byTenant', hash: tenant, range: listKey, include: ['status', 'sessionId'] }, due],
    ttl: 'ttl',
  },
  guard: {
    hash: pk,
    range: sk,
    indexes: [
      { name: 'byTenant', hash: tenant, range: listKey, include: [] },
      /** Sparse: `pendingTenant` goes once every decision has been delivered, so a list of what waits reads nothing else. */
      { name: 'pending', hash: { name: 'pendingTenant', type: 'S' }, range: listKey, include: [] },
      due,
    ],
    ttl: 'ttl',
  },
  memory: { hash: pk, range: sk, indexes: [], ttl: 'ttl' },
};
