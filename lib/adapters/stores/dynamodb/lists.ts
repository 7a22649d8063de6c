import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import type { LivePolicy } from '../../../core/guard/policy.ts';
import type { Page } from '../../../core/ports/run-store.ts';
import type { Item } from './codec.ts';
import { makeCursor, readCursor } from './cursor.ts';
import { placeholders } from './expression.ts';
import { fromPolicyItem } from './guard-items.ts';
import { idOfListKey, KEPT, keptPolicySkSchema, listKeySchema, policyItemKey } from './keys.ts';
import type { DynamoDeps } from './requests.ts';

/** Most entries of a page: what one BatchGetItem can fetch. */
const PAGE_MAX = 100;
/** Index pages read for one answer. A filter that matches little gives a short page and a cursor, never an unbounded read. */
const INDEX_PAGES = 5;
/** Entries read at a time when a filter drops some of them. */
const FILTER_PAGE = 500;

export interface TenantList<T> {
  readonly table: string;
  readonly index: 'byTenant' | 'pending';
  readonly tenant: string;
  readonly limit: number;
  readonly cursor: string | undefined;
  /** Equality filters on attributes the index includes. */
  readonly filter?: Readonly<Record<string, string>>;
  /** Primary key of the item that an id belongs to. */
  keyOf(id: string): { pk: string; sk: string };
  /** The items of a page, in the order of the ids; those that no longer match left out. */
  fetch(ids: readonly string[]): Promise<T[]>;
}

/** A page of a tenant's list, newest first: ids from the index, then the items themselves. */
export async function listByTenant<T>(deps: DynamoDeps, list: TenantList<T>): Promise<Page<T>> {
  const owner = `${list.index} ${list.tenant}`;
  const limit = Math.max(1, Math.min(list.limit, PAGE_MAX));
  const keys: string[] = [];
  let position = list.cursor === undefined ? undefined : readCursor(owner, list.cursor, listKeySchema);
  let more = true;
  for (let page = 0; more && page < INDEX_PAGES && keys.length < limit; page++) {
    const answer = await queryIndex(deps, list, position, list.filter ? FILTER_PAGE : limit);
    const room = limit - keys.length;
    keys.push(...answer.keys.slice(0, room));
    more = answer.next !== undefined || answer.keys.length > room;
    position = answer.keys.length > room ? keys.at(-1) : answer.next;
  }
  const items = await list.fetch(keys.map(idOfListKey));
  return { items, cursor: more && position !== undefined ? makeCursor(owner, position) : undefined };
}

async function queryIndex<T>(deps: DynamoDeps, list: TenantList<T>, after: string | undefined, limit: number) {
  const hash = list.index === 'pending' ? 'pendingTenant' : 'tenant';
  const at = placeholders();
  const condition = `${at.name(hash)}=${at.value(list.tenant)}`;
  const filter = Object.entries(list.filter ?? {}).map(([name, value]) => `${at.name(name)}=${at.value(value)}`);
  const answer = await deps.client.send(
    new QueryCommand({
      TableName: list.table,
      IndexName: list.index,
      KeyConditionExpression: condition,
      ...(filter.length > 0 ? { FilterExpression: filter.join(' AND ') } : {}),
      ...at.attributes(),
      ScanIndexForward: false,
      Limit: limit,
      ...(after === undefined ? {} : { ExclusiveStartKey: { [hash]: list.tenant, listKey: after, ...list.keyOf(idOfListKey(after)) } }),
    }),
  );
  const read = (item: Item): string => listKeySchema.parse(item['listKey']);
  return { keys: (answer.Items ?? []).map(read), next: answer.LastEvaluatedKey ? read(answer.LastEvaluatedKey) : undefined };
}

/** Versions of a policy that were replaced, newest first. */
export async function listKeptPolicies(
  deps: DynamoDeps,
  tenant: string,
  query: { readonly limit: number; readonly cursor?: string },
): Promise<Page<LivePolicy>> {
  const owner = `policy ${tenant}`;
  const limit = Math.max(1, Math.min(query.limit, PAGE_MAX));
  const { pk } = policyItemKey(tenant);
  const at = placeholders();
  const condition = `${at.name('pk')}=${at.value(pk)} AND begins_with(${at.name('sk')},${at.value(KEPT)})`;
  const answer = await deps.client.send(
    new QueryCommand({
      TableName: deps.tables.guard,
      KeyConditionExpression: condition,
      ...at.attributes(),
      ConsistentRead: true,
      ScanIndexForward: false,
      Limit: limit,
      ...(query.cursor === undefined ? {} : { ExclusiveStartKey: { pk, sk: readCursor(owner, query.cursor, keptPolicySkSchema) } }),
    }),
  );
  const last: unknown = answer.LastEvaluatedKey?.['sk'];
  return { items: (answer.Items ?? []).map(fromPolicyItem), cursor: typeof last === 'string' ? makeCursor(owner, last) : undefined };
}
