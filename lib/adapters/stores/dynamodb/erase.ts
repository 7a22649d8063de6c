import { placeholders } from './expression.ts';
import type { ItemKey } from './keys.ts';
import { batchDelete, type DynamoDeps, queryPages } from './requests.ts';

/** Deletes all items of a partition, `last` at the end: while anything is left, so is the item by which it is found. */
export async function erasePartition(deps: DynamoDeps, table: string, last: ItemKey): Promise<void> {
  const at = placeholders();
  const condition = `${at.name('pk')}=${at.value(last.pk)}`;
  const projection = ['pk', 'sk'].map((name) => at.name(name)).join(',');
  for await (const items of queryPages(deps, table, at, { condition, projection })) {
    const keys = items.map((item): ItemKey => ({ pk: String(item['pk']), sk: String(item['sk']) }));
    await batchDelete(
      deps,
      table,
      keys.filter(({ sk }) => sk !== last.sk),
    );
  }
  await batchDelete(deps, table, [last]);
}
