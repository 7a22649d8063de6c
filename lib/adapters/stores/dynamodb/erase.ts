import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { placeholders } from './expression.ts';
import type { ItemKey } from './keys.ts';
import { batchDelete, type DynamoDeps } from './requests.ts';

/** Deletes all items of a partition, `last` at the end: while anything is left, so is the item by which it is found. */
export async function erasePartition(deps: DynamoDeps, table: string, last: ItemKey): Promise<void> {
  let from: Record<string, unknown> | undefined;
  do {
    const at = placeholders();
    const condition = `${at.name('pk')}=${at.value(last.pk)}`;
    const answer = await deps.client.send(
      new QueryCommand({
        TableName: table,
        KeyConditionExpression: condition,
        ProjectionExpression: ['pk', 'sk'].map((name) => at.name(name)).join(','),
        ...at.attributes(),
        ConsistentRead: true,
        ...(from ? { ExclusiveStartKey: from } : {}),
      }),
    );
    const keys = (answer.Items ?? []).map((item): ItemKey => ({ pk: String(item['pk']), sk: String(item['sk']) }));
    await batchDelete(
      deps,
      table,
      keys.filter(({ sk }) => sk !== last.sk),
    );
    from = answer.LastEvaluatedKey;
  } while (from);
  await batchDelete(deps, table, [last]);
}
