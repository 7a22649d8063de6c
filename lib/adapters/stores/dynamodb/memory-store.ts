import { DeleteCommand, QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';
import { HandrailError } from '../../../core/errors.ts';
import { utf8Bytes } from '../../../core/json.ts';
import { MEMORY } from '../../../core/limits.ts';
import type { MemoryEntry, MemoryScope, MemoryStore } from '../../../core/ports/memory-store.ts';
import { ttlAfter } from '../../../core/retention.ts';
import { fromItem, type Item, toItem } from './codec.ts';
import { makeCursor, readCursor } from './cursor.ts';
import { placeholders } from './expression.ts';
import { type ItemKey, memoryPk } from './keys.ts';
import { conditionalPut, conditionalUpdate, type DynamoDeps, getItem, isConditionFailure } from './requests.ts';

/** Epoch seconds after which DynamoDB may drop what is written. */
type Expiry = { readonly ttl?: number };
type MemoryLimits = { readonly valueBytes: number; readonly entries: number };

/** Sort key of an entry; a sort key takes 1,024 bytes (service limit). */
const ENTRY = 'K#';
const KEY_BYTES = 1_000;
/** The scope's number of entries, kept beside them. */
const COUNT = 'COUNT';
/** Items looked at for one answer of a search by text, in pages of 1 MB at most. */
const SEARCH_PAGES = 4;

const entrySchema = z.object({ v: z.literal(1), sk: z.string(), value: z.string(), updatedAt: z.number() });
const NO_TEXT: ReadonlySet<string> = new Set();

/** The memory table: entries by tenant, namespace and key (design section 4). */
/** `namespaceDays`: how long what belongs to a frame of one run is kept after it was written. */
export function dynamoMemoryStore(deps: DynamoDeps, namespaceDays: number, limits: MemoryLimits = MEMORY): MemoryStore {
  return {
    async read(scope, key) {
      const item = await getItem(deps, deps.tables.memory, entryKey(scope, key));
      return item && fromEntryItem(item);
    },
    search: (scope, query) => search(deps, scope, query),
    write: (scope, entry) =>
      write(deps, limits, scope, entry, scope.runId === undefined ? {} : { ttl: ttlAfter(deps.clock.now(), namespaceDays) }),
    remove: (scope, key) => remove(deps, scope, key),
  };
}

/** Overwrites in one request. A new entry first takes a place in the scope's count. */
async function write(deps: DynamoDeps, limits: MemoryLimits, scope: MemoryScope, entry: MemoryEntry, expiry: Expiry): Promise<void> {
  if (utf8Bytes(entry.value) > limits.valueBytes)
    throw new HandrailError('RESOURCE_EXHAUSTED', `the value is over ${limits.valueBytes} bytes`);
  const key = entryKey(scope, entry.key);
  const item = { ...key, v: 1, ...toItem({ value: entry.value, updatedAt: entry.updatedAt }, NO_TEXT), ...expiry };
  if (await putEntry(deps, item, 'attribute_exists')) return;
  if (!(await takePlace(deps, limits.entries, scope, expiry)))
    throw new HandrailError('RESOURCE_EXHAUSTED', `this memory holds ${limits.entries} entries, which is the most; remove some first`);
  if (await putEntry(deps, item, 'attribute_not_exists')) return;
  // Another call wrote the same key meanwhile: the place is not needed, the later value stands.
  await addToCount(deps, scope, -1);
  await putEntry(deps, item, 'attribute_exists');
}

async function putEntry(deps: DynamoDeps, item: Item & ItemKey, condition: 'attribute_exists' | 'attribute_not_exists'): Promise<boolean> {
  const at = placeholders();
  return (await conditionalPut(deps, deps.tables.memory, item, at, `${condition}(${at.name('pk')})`)).done;
}

/** Counts one more, unless the scope is full. A count that a crash left too high is made right before it refuses anyone. */
async function takePlace(deps: DynamoDeps, most: number, scope: MemoryScope, expiry: Expiry): Promise<boolean> {
  if (await countUp(deps, most, scope, expiry)) return true;
  const entries = await countEntries(deps, scope);
  if (entries >= most) return false;
  const at = placeholders();
  await deps.client.send(
    new UpdateCommand({
      TableName: deps.tables.memory,
      Key: countKey(scope),
      UpdateExpression: `SET ${at.name('entries')}=${at.value(entries)}`,
      ...at.attributes(),
    }),
  );
  return countUp(deps, most, scope, expiry);
}

async function countUp(deps: DynamoDeps, most: number, scope: MemoryScope, { ttl }: Expiry): Promise<boolean> {
  const at = placeholders();
  const entries = at.name('entries');
  const until = ttl === undefined ? '' : `SET ${at.name('ttl')}=${at.value(ttl)} `;
  const update = `${until}ADD ${entries} ${at.value(1)}`;
  const condition = `attribute_not_exists(${entries}) OR ${entries}<${at.value(most)}`;
  return (await conditionalUpdate(deps, deps.tables.memory, countKey(scope), { at, update, condition, answer: 'NONE' })).done;
}

async function addToCount(deps: DynamoDeps, scope: MemoryScope, change: number): Promise<void> {
  const at = placeholders();
  await deps.client.send(
    new UpdateCommand({
      TableName: deps.tables.memory,
      Key: countKey(scope),
      UpdateExpression: `ADD ${at.name('entries')} ${at.value(change)}`,
      ...at.attributes(),
    }),
  );
}

async function countEntries(deps: DynamoDeps, scope: MemoryScope): Promise<number> {
  let count = 0;
  let from: Item | undefined;
  do {
    const answer = await queryEntries(deps, scope, ENTRY, { from, count: true });
    count += answer.Count ?? 0;
    from = answer.LastEvaluatedKey;
  } while (from);
  return count;
}

async function remove(deps: DynamoDeps, scope: MemoryScope, key: string): Promise<boolean> {
  const at = placeholders();
  try {
    await deps.client.send(
      new DeleteCommand({
        TableName: deps.tables.memory,
        Key: entryKey(scope, key),
        ConditionExpression: `attribute_exists(${at.name('pk')})`,
        ...at.attributes(),
      }),
    );
  } catch (error) {
    if (isConditionFailure(error)) return false;
    throw error;
  }
  await addToCount(deps, scope, -1);
  return true;
}

/** Entries in order of their keys. A search by text that finds little gives a short page and a cursor. */
async function search(
  deps: DynamoDeps,
  scope: MemoryScope,
  query: Parameters<MemoryStore['search']>[1],
): ReturnType<MemoryStore['search']> {
  const owner = `memory ${memoryPk(scope)}`;
  const start = query.cursor === undefined ? undefined : readCursor(owner, query.cursor, z.string().min(1));
  const prefix = ENTRY + (query.prefix ?? '');
  if (start !== undefined && !start.startsWith(prefix))
    throw new HandrailError('BAD_REQUEST', 'this cursor is of another search', { field: 'cursor' });
  const text = query.text?.toLowerCase();
  const items: MemoryEntry[] = [];
  let from: Item | undefined = start === undefined ? undefined : { pk: memoryPk(scope), sk: start };
  for (let page = 0; page === 0 || (from && page < SEARCH_PAGES); page++) {
    const answer = await queryEntries(deps, scope, prefix, { from, ...(text === undefined ? { limit: query.limit - items.length } : {}) });
    for (const item of answer.Items ?? []) {
      const entry = fromEntryItem(item);
      from = { pk: item['pk'], sk: item['sk'] };
      if (text === undefined || `${entry.key}\n${entry.value}`.toLowerCase().includes(text)) items.push(entry);
      if (items.length >= query.limit)
        return {
          items,
          cursor: answer.LastEvaluatedKey || item !== answer.Items?.at(-1) ? makeCursor(owner, String(item['sk'])) : undefined,
        };
    }
    from = answer.LastEvaluatedKey;
  }
  return { items, cursor: from ? makeCursor(owner, String(from['sk'])) : undefined };
}

async function queryEntries(
  deps: DynamoDeps,
  scope: MemoryScope,
  prefix: string,
  options: { from: Item | undefined; limit?: number; count?: boolean },
) {
  const at = placeholders();
  return deps.client.send(
    new QueryCommand({
      TableName: deps.tables.memory,
      KeyConditionExpression: `${at.name('pk')}=${at.value(memoryPk(scope))} AND begins_with(${at.name('sk')},${at.value(prefix)})`,
      ...at.attributes(),
      ConsistentRead: true,
      ...(options.from ? { ExclusiveStartKey: options.from } : {}),
      ...(options.limit === undefined ? {} : { Limit: options.limit }),
      ...(options.count ? { Select: 'COUNT' as const } : {}),
    }),
  );
}

function entryKey(scope: MemoryScope, key: string): ItemKey {
  if (utf8Bytes(key) > KEY_BYTES) throw new HandrailError('INVALID_ARGUMENTS', `a key takes at most ${KEY_BYTES} bytes`, { field: 'key' });
  return { pk: memoryPk(scope), sk: ENTRY + key };
}

const countKey = (scope: MemoryScope): ItemKey => ({ pk: memoryPk(scope), sk: COUNT });

function fromEntryItem(item: Item): MemoryEntry {
  const { sk, value, updatedAt } = fromItem(entrySchema, item, NO_TEXT);
  return { key: sk.slice(ENTRY.length), value, updatedAt };
}
