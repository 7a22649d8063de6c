import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  BatchWriteCommand,
  type BatchWriteCommandInput,
  type BatchWriteCommandOutput,
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { HandrailError } from '../../../core/errors.ts';
import { jsonBytes } from '../../../core/json.ts';
import { BATCH_GET_ITEMS, BATCH_WRITE_ITEMS } from '../../../core/limits.ts';
import type { Clock, Random } from '../../../core/ports/clock.ts';
import type { Item } from './codec.ts';
import { type Placeholders, placeholders } from './expression.ts';
import type { ItemKey } from './keys.ts';
import type { TableNames } from './tables.ts';

/** What the stores are made of. The composition root gives the client, so that stores share its connections. */
export interface DynamoDeps {
  readonly client: DynamoDBDocumentClient;
  readonly tables: TableNames;
  readonly clock: Clock;
  readonly random: Random;
}

/** 16 MB is the service's limit for a BatchWriteItem (API reference); headers and framing want a little of it. */
const BATCH_WRITE_BYTES = 15_000_000;
/** Rounds in which keys that the service left unprocessed are sent again before the step gives up. */
const BATCH_ROUNDS = 8;
const BACKOFF_MS = { first: 50, max: 1_000 } as const;

/** One item, consistent. */
export async function getItem(deps: DynamoDeps, table: string, key: ItemKey): Promise<Item | undefined> {
  const { Item: item } = await deps.client.send(new GetCommand({ TableName: table, Key: key, ConsistentRead: true }));
  return item;
}

/** All pages of a consistent query for `condition`, one after the other, each read when it is asked for. `at` made the placeholders. */
export async function* queryPages(
  deps: DynamoDeps,
  table: string,
  at: Placeholders,
  query: { readonly condition: string; readonly projection?: string },
): AsyncGenerator<Item[]> {
  let from: Item | undefined;
  do {
    const answer = await deps.client.send(
      new QueryCommand({
        TableName: table,
        KeyConditionExpression: query.condition,
        ...(query.projection === undefined ? {} : { ProjectionExpression: query.projection }),
        ...at.attributes(),
        ConsistentRead: true,
        ...(from ? { ExclusiveStartKey: from } : {}),
      }),
    );
    yield answer.Items ?? [];
    from = answer.LastEvaluatedKey;
  } while (from);
}

export type Keys = { readonly [table: string]: readonly ItemKey[] };

/**
 * Items by key, from one or several tables in one request, found by {@link itemAt}; with `attributes` only those of them.
 * At most 100 keys; unprocessed ones are asked for again.
 */
export async function batchGet(
  deps: DynamoDeps,
  keys: Keys,
  consistent: boolean,
  attributes?: readonly string[],
): Promise<ReadonlyMap<string, Item>> {
  const found = new Map<string, Item>();
  let wanted = Object.entries(keys).filter(([, list]) => list.length > 0);
  if (wanted.reduce((sum, [, list]) => sum + list.length, 0) > BATCH_GET_ITEMS)
    throw new HandrailError('INTERNAL', `more than ${BATCH_GET_ITEMS} keys in one read`);
  for (let round = 0; wanted.length > 0; round++) {
    if (round > 0) await backOff(deps, round);
    const request = Object.fromEntries(
      wanted.map(([table, list]) => [table, { Keys: [...list], ConsistentRead: consistent, ...projection(attributes) }]),
    );
    const answer = await deps.client.send(new BatchGetCommand({ RequestItems: request }));
    for (const [table, items] of Object.entries(answer.Responses ?? {})) for (const item of items) found.set(place(table, item), item);
    wanted = Object.entries(answer.UnprocessedKeys ?? {}).map(([table, left]) => [
      table,
      (left.Keys ?? []).map((key) => ({ pk: String(key['pk']), sk: String(key['sk']) })),
    ]);
  }
  return found;
}

function projection(attributes: readonly string[] | undefined) {
  if (attributes === undefined) return {};
  const at = placeholders();
  const ProjectionExpression = ['pk', 'sk', ...attributes].map((attribute) => at.name(attribute)).join(',');
  return { ProjectionExpression, ...at.attributes() };
}

/** Those of `keys` that were found, in their order. */
export const itemsAt = (items: ReadonlyMap<string, Item>, table: string, keys: readonly ItemKey[]): Item[] =>
  keys.flatMap((key) => {
    const item = items.get(place(table, key));
    return item ? [item] : [];
  });

export const itemAt = (items: ReadonlyMap<string, Item>, table: string, key: ItemKey): Item | undefined => items.get(place(table, key));

/** Puts items in as few BatchWriteItems as they fit; unprocessed ones are sent again. No item, no request. */
export async function batchPut(deps: DynamoDeps, table: string, items: readonly (Item & ItemKey)[]): Promise<void> {
  // The service refuses a request that names a key twice; the later one would win.
  const unique = [...new Map(items.map((item) => [place(table, item), item])).values()];
  for (const chunk of chunks(unique)) await putChunk(deps, table, chunk);
}

/** Deletes items by key; those that are gone already do no harm. */
export async function batchDelete(deps: DynamoDeps, table: string, keys: readonly ItemKey[]): Promise<void> {
  for (let start = 0; start < keys.length; start += BATCH_WRITE_ITEMS)
    await sendBatch(
      deps,
      table,
      keys.slice(start, start + BATCH_WRITE_ITEMS).map((key) => ({ DeleteRequest: { Key: key } })),
    );
}

const putChunk = (deps: DynamoDeps, table: string, chunk: readonly Item[]): Promise<void> =>
  sendBatch(
    deps,
    table,
    chunk.map((item) => ({ PutRequest: { Item: item } })),
  );

type WriteRequests = NonNullable<BatchWriteCommandInput['RequestItems']>[string];

async function sendBatch(deps: DynamoDeps, table: string, batch: WriteRequests): Promise<void> {
  let requests: BatchWriteCommandInput['RequestItems'] = { [table]: batch };
  for (let round = 0; requests && Object.keys(requests).length > 0; round++) {
    if (round > 0) await backOff(deps, round);
    const answer: BatchWriteCommandOutput = await deps.client.send(new BatchWriteCommand({ RequestItems: requests }));
    requests = answer.UnprocessedItems;
  }
}

function chunks<T extends Item>(items: readonly T[]): T[][] {
  const result: T[][] = [];
  let bytes = 0;
  for (const item of items) {
    const size = jsonBytes(item);
    const last = result.at(-1);
    if (last && last.length < BATCH_WRITE_ITEMS && bytes + size <= BATCH_WRITE_BYTES) {
      last.push(item);
      bytes += size;
    } else {
      result.push([item]);
      bytes = size;
    }
  }
  return result;
}

/** `done`: the item as it now is (for updates). Else the item that broke the condition, undefined when there is none. */
export type Conditional = { readonly done: boolean; readonly item: Item | undefined };

/** One conditional UpdateItem that answers with the whole new item, or with the one that stands. */
export async function conditionalUpdate(
  deps: DynamoDeps,
  table: string,
  key: ItemKey,
  expressions: { readonly at: Placeholders; readonly update: string; readonly condition?: string; readonly answer?: 'NONE' | 'ALL_NEW' },
): Promise<Conditional> {
  return guarded(deps, table, key, async () => {
    const answer = await deps.client.send(
      new UpdateCommand({
        TableName: table,
        Key: key,
        UpdateExpression: expressions.update,
        ...(expressions.condition === undefined ? {} : { ConditionExpression: expressions.condition }),
        ...expressions.at.attributes(),
        ReturnValues: expressions.answer ?? 'ALL_NEW',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
    );
    return answer.Attributes;
  });
}

/** One conditional PutItem. */
export async function conditionalPut(
  deps: DynamoDeps,
  table: string,
  item: Item & ItemKey,
  at: Placeholders,
  condition: string,
): Promise<Conditional> {
  return guarded(deps, table, { pk: item.pk, sk: item.sk }, async () => {
    await deps.client.send(
      new PutCommand({
        TableName: table,
        Item: item,
        ConditionExpression: condition,
        ...at.attributes(),
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
    );
    return item;
  });
}

/** True for the error of a condition that did not hold. */
export const isConditionFailure = (error: unknown): error is ConditionalCheckFailedException =>
  error instanceof ConditionalCheckFailedException;

async function guarded(deps: DynamoDeps, table: string, key: ItemKey, send: () => Promise<Item | undefined>): Promise<Conditional> {
  try {
    return { done: true, item: await send() };
  } catch (error) {
    if (isConditionFailure(error)) {
      // Emulators leave the item out, and so does the service when there is none: only reading tells the two apart.
      return { done: false, item: error.Item ? unmarshall(error.Item) : await getItem(deps, table, key) };
    }
    if (error instanceof Error && error.name === 'ValidationException' && /item size/i.test(error.message))
      throw new HandrailError('RESOURCE_EXHAUSTED', `${key.pk} / ${key.sk} would be larger than an item may be`, { cause: error });
    throw error;
  }
}

/** Full jitter; past the last round the table is too busy for this step. */
async function backOff({ clock, random }: DynamoDeps, round: number): Promise<void> {
  if (round >= BATCH_ROUNDS) throw new HandrailError('SERVICE_UNAVAILABLE', 'the table kept leaving items unprocessed');
  await clock.sleep(random.number() * Math.min(BACKOFF_MS.max, BACKOFF_MS.first * 2 ** (round - 1)));
}

const place = (table: string, key: Item): string => `${table}\n${String(key['pk'])}\n${String(key['sk'])}`;
