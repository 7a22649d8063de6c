import * as z from 'zod';
import type { LinkStore } from '../../../core/ports/link-store.ts';
import { fromItem } from './codec.ts';
import { placeholders } from './expression.ts';
import { linksOf } from './guard-items.ts';
import { linkTriesItemKey, suspensionItemKey } from './keys.ts';
import { batchGet, conditionalUpdate, type DynamoDeps, itemAt } from './requests.ts';

const triesSchema = z.object({ tries: z.int().default(0) });

/**
 * Links and the tries that failed (design 5.3). Tries have an item of their own: an id that nobody has is counted like
 * any other, and a stranger's guess never rewrites a large suspension.
 */
export function dynamoLinkStore(deps: DynamoDeps): LinkStore {
  const { guard } = deps.tables;
  return {
    async readLinks(suspensionId, span) {
      const [suspension, tries] = [suspensionItemKey(suspensionId), linkTriesItemKey(suspensionId, span)];
      const items = await batchGet(deps, { [guard]: [suspension, tries] }, true, ['links', 'tries']);
      return { links: linksOf(itemAt(items, guard, suspension) ?? {}), tries: triesOf(itemAt(items, guard, tries)) };
    },
    async countTry(suspensionId, span, ttl) {
      const at = placeholders();
      const update = `SET ${at.name('ttl')}=${at.value(ttl)},${at.name('v')}=${at.value(1)} ADD ${at.name('tries')} ${at.value(1)}`;
      const counted = await conditionalUpdate(deps, guard, linkTriesItemKey(suspensionId, span), { at, update });
      return triesOf(counted.item);
    },
  };
}

const triesOf = (item: Record<string, unknown> | undefined): number => fromItem(triesSchema, item ?? {}, new Set()).tries;
