import { DeleteCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';
import type { Item } from './dynamodb/codec.ts';
import { placeholders } from './dynamodb/expression.ts';
import type { ItemKey } from './dynamodb/keys.ts';
import { type DynamoDeps, isConditionFailure } from './dynamodb/requests.ts';
import { TABLE_IDS, TABLES } from './dynamodb/tables.ts';

const keysSchema = z.array(z.object({ pk: z.string(), sk: z.string() }));

/** What DynamoDB does by itself and dynalite does not: deletes items whose time to live is over. Reads whole tables. How many went. */
export async function dropExpired(deps: Pick<DynamoDeps, 'client' | 'tables' | 'clock'>): Promise<number> {
  let dropped = 0;
  for (const id of TABLE_IDS)
    for await (const key of expiredKeys(deps, deps.tables[id], TABLES[id].ttl))
      dropped += await drop(deps, deps.tables[id], key, TABLES[id].ttl);
  return dropped;
}

async function* expiredKeys({ client, clock }: Pick<DynamoDeps, 'client' | 'clock'>, table: string, ttl: string): AsyncGenerator<ItemKey> {
  let from: Item | undefined;
  do {
    const at = placeholders();
    const answer = await client.send(
      new ScanCommand({
        TableName: table,
        FilterExpression: `${at.name(ttl)}<${at.value(seconds(clock))}`,
        ProjectionExpression: ['pk', 'sk'].map((name) => at.name(name)).join(','),
        ...at.attributes(),
        ...(from ? { ExclusiveStartKey: from } : {}),
      }),
    );
    yield* keysSchema.parse(answer.Items ?? []);
    from = answer.LastEvaluatedKey;
  } while (from);
}

/** One that was written again meanwhile has a new time, and stays. */
async function drop({ client, clock }: Pick<DynamoDeps, 'client' | 'clock'>, table: string, key: ItemKey, ttl: string): Promise<number> {
  const at = placeholders();
  const condition = `${at.name(ttl)}<${at.value(seconds(clock))}`;
  try {
    await client.send(new DeleteCommand({ TableName: table, Key: key, ConditionExpression: condition, ...at.attributes() }));
    return 1;
  } catch (error) {
    if (isConditionFailure(error)) return 0;
    throw error;
  }
}

const seconds = (clock: DynamoDeps['clock']): number => Math.floor(clock.now() / 1000);
