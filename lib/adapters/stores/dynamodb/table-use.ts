import type { GuardStore } from '../../../core/ports/guard-store.ts';
import type { LinkStore } from '../../../core/ports/link-store.ts';
import type { MemoryStore } from '../../../core/ports/memory-store.ts';
import type { RunStore } from '../../../core/ports/run-store.ts';
import { TABLE_IDS, type TableId } from './tables.ts';

export type TableAction = 'GetItem' | 'BatchGetItem' | 'Query' | 'PutItem' | 'UpdateItem' | 'DeleteItem' | 'BatchWriteItem';
type IndexName = 'byTenant' | 'pending' | 'due';
/** An action on a table, or a Query of one of its indexes. */
type Operation = TableAction | `Query ${IndexName}`;
type Operations = Readonly<Partial<Record<TableId, readonly Operation[]>>>;

/** A condition that does not hold is read again where the answer leaves the item out. */
const put = ['PutItem', 'GetItem'] as const;
const update = ['UpdateItem', 'GetItem'] as const;
const erase = ['Query', 'BatchWriteItem'] as const;

/**
 * What each method of the stores asks of the tables. The rights of a function follow from the methods that it uses; a
 * contract test compares this with the requests that are sent.
 */
export const TABLE_USE = {
  runs: {
    loadStep: { sessions: ['BatchGetItem'], guard: ['BatchGetItem'] },
    getRun: { sessions: ['GetItem'] },
    createRun: { sessions: put },
    deleteStarting: { sessions: ['DeleteItem'] },
    markRunning: { sessions: update },
    getSession: { sessions: ['GetItem'] },
    swapSession: { sessions: put },
    write: { sessions: ['BatchWriteItem'] },
    commit: { sessions: update },
    requestCancel: { sessions: update },
    postponeRun: { sessions: update },
    readTranscript: { sessions: ['Query'] },
    listCommits: { sessions: ['Query'] },
    eraseRun: { sessions: erase },
    eraseSession: { sessions: erase },
    readEvents: { sessions: ['GetItem', 'Query'] },
    listRuns: { sessions: ['Query byTenant', 'BatchGetItem'] },
    due: { sessions: ['Query due'], guard: ['Query due'] },
    deferDue: { sessions: [...update, 'BatchGetItem'], guard: [...update, 'BatchGetItem'] },
  },
  guard: {
    getSuspension: { guard: ['GetItem'] },
    openSuspension: { guard: put },
    changeSuspension: { guard: update },
    listSuspensions: { guard: ['Query byTenant', 'Query pending', 'BatchGetItem'] },
    eraseSuspension: { guard: ['BatchWriteItem'] },
    getPermits: { guard: ['GetItem'] },
    putPermits: { guard: put },
    getPolicy: { guard: ['GetItem'] },
    getPolicies: { guard: ['BatchGetItem'] },
    putPolicy: { guard: put },
    keepPolicy: { guard: ['BatchWriteItem'] },
    listKeptPolicies: { guard: ['Query'] },
  },
  links: {
    readLinks: { guard: ['BatchGetItem'] },
    countTry: { guard: ['UpdateItem'] },
  },
  /** `oldestPendingMs`, which also reads suspensions by the guard store. */
  ages: { oldestPendingMs: { guard: ['Query due'] } },
  memory: {
    read: { memory: ['GetItem'] },
    search: { memory: ['Query'] },
    write: { memory: [...put, 'UpdateItem', 'Query'] },
    remove: { memory: ['DeleteItem', 'UpdateItem'] },
  },
} as const satisfies {
  runs: Record<keyof RunStore, Operations>;
  guard: Record<keyof GuardStore, Operations>;
  links: Record<keyof LinkStore, Operations>;
  ages: Record<string, Operations>;
  memory: Record<keyof MemoryStore, Operations>;
};
type Stores = typeof TABLE_USE;

/** Methods of the stores that somebody uses. */
export type StoreUse = { readonly [Store in keyof Stores]?: readonly (keyof Stores[Store])[] };

export interface TableAccess {
  readonly table: TableId;
  /** On the table itself; may be none. */
  readonly actions: readonly TableAction[];
  /** Secondary indexes that are queried. */
  readonly indexes: readonly IndexName[];
}

/** What a use of the stores asks of each table, in a fixed order; tables that it does not touch are left out. */
export function tableAccess(use: StoreUse): TableAccess[] {
  const asked = (Object.keys(use) as (keyof Stores)[]).flatMap((store) => {
    const operations: Readonly<Record<string, Operations>> = TABLE_USE[store];
    return (use[store] ?? []).map((method) => operations[method] ?? {});
  });
  return TABLE_IDS.flatMap((table) => {
    const operations = [...new Set(asked.flatMap((one) => one[table] ?? []))].sort();
    if (operations.length === 0) return [];
    const indexes = operations.flatMap((operation) => (isIndexQuery(operation) ? [INDEX_OF[operation]] : []));
    return [{ table, actions: operations.filter((operation) => !isIndexQuery(operation)), indexes }];
  });
}

type IndexQuery = Extract<Operation, `Query ${string}`>;
const INDEX_OF: Readonly<Record<IndexQuery, IndexName>> = { 'Query byTenant': 'byTenant', 'Query pending': 'pending', 'Query due': 'due' };
const isIndexQuery = (operation: Operation): operation is IndexQuery => operation.startsWith('Query ');
