import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';
import { unreachable } from '../../../core/errors.ts';
import type { Deferral, DueItem, DueKind, Page } from '../../../core/ports/run-store.ts';
import { placeholders } from './expression.ts';
import { type ItemKey, runItemKey, runKeyOf, suspensionIdOfPk, suspensionItemKey } from './keys.ts';
import { batchGet, conditionalUpdate, type DynamoDeps, itemAt } from './requests.ts';
import { DUE_SHARD } from './tables.ts';

const entrySchema = z.object({ pk: z.string(), sk: z.string(), dueShard: z.literal(DUE_SHARD), dueAt: z.number() });
type Entry = z.infer<typeof entrySchema>;
/** The last failure of sweep at an item: when it is due again since, and after what delay. */
const deferralSchema = z.object({ dueAt: z.number(), ms: z.number() });

export const tableOf = ({ tables }: Pick<DynamoDeps, 'tables'>, kind: DueKind): string => (kind === 'run' ? tables.sessions : tables.guard);

/** A page of a table's sparse `due` index, soonest first: what is due by `until`, behind the entry that `cursor` names. */
export async function queryDue(
  deps: DynamoDeps,
  table: string,
  { until, limit, cursor }: { readonly until: number; readonly limit: number; readonly cursor?: string },
): Promise<Page<Entry>> {
  const at = placeholders();
  const condition = `${at.name('dueShard')}=${at.value(DUE_SHARD)} AND ${at.name('dueAt')}<=${at.value(until)}`;
  const answer = await deps.client.send(
    new QueryCommand({
      TableName: table,
      IndexName: 'due',
      KeyConditionExpression: condition,
      ...at.attributes(),
      Limit: limit,
      ...(cursor === undefined ? {} : { ExclusiveStartKey: entrySchema.parse(JSON.parse(cursor)) }),
    }),
  );
  const last = answer.LastEvaluatedKey;
  return { items: z.array(entrySchema).parse(answer.Items ?? []), cursor: last && JSON.stringify(entrySchema.parse(last)) };
}

/** What sweep must look at: see `RunStore.due`. */
export async function readDue(
  deps: DynamoDeps,
  kind: DueKind,
  now: number,
  page: { readonly limit: number; readonly cursor?: string },
): Promise<Page<DueItem>> {
  const { items, cursor } = await queryDue(deps, tableOf(deps, kind), { until: now, ...page });
  return { items: items.map((entry) => toDueItem(kind, entry)), cursor };
}

function toDueItem(kind: DueKind, { pk, sk, dueAt }: Entry): DueItem {
  try {
    return kind === 'run' ? { kind, key: runKeyOf(pk), dueAt } : { kind, suspensionId: suspensionIdOfPk(pk), dueAt };
  } catch {
    return { kind: 'unreadable', of: kind, pk, sk, dueAt };
  }
}

/** See `RunStore.deferDue`. Reads and writes raw attributes: the item may be one that no schema here can read. */
export async function deferDue(deps: DynamoDeps, item: DueItem, now: number, { firstMs, mostMs }: Deferral): Promise<number> {
  const { table, key } = placeOf(deps, item);
  const found = itemAt(await batchGet(deps, { [table]: [key] }, true, ['deferral']), table, key);
  const last = deferralSchema.safeParse(found?.['deferral']);
  const ms = last.success && last.data.dueAt === item.dueAt ? Math.min(mostMs, 2 * last.data.ms) : firstMs;
  const at = placeholders();
  const dueAt = now + ms;
  const name = at.name('dueAt');
  const condition = `${name}=${at.value(item.dueAt)}`;
  const update = `SET ${name}=${at.value(dueAt)},${at.name('deferral')}=${at.value({ dueAt, ms })}`;
  return (await conditionalUpdate(deps, table, key, { at, update, condition, answer: 'NONE' })).done ? ms : 0;
}

function placeOf(deps: DynamoDeps, item: DueItem): { table: string; key: ItemKey } {
  switch (item.kind) {
    case 'run':
      return { table: tableOf(deps, 'run'), key: runItemKey(item.key) };
    case 'suspension':
      return { table: tableOf(deps, 'suspension'), key: suspensionItemKey(item.suspensionId) };
    case 'unreadable':
      return { table: tableOf(deps, item.of), key: { pk: item.pk, sk: item.sk } };
    default:
      return unreachable(item);
  }
}
