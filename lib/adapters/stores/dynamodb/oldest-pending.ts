import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';
import { pendingCalls } from '../../../core/guard/approvals/suspension.ts';
import type { GuardStore } from '../../../core/ports/guard-store.ts';
import { placeholders } from './expression.ts';
import { suspensionIdOfPk } from './keys.ts';
import type { DynamoDeps } from './requests.ts';
import { DUE_SHARD } from './tables.ts';

/** Some of the first may have been decided already, or be due for another reason. */
const LOOKED_AT = 10;

/**
 * ms that the request to a person that has waited longest has waited; 0 when nothing waits. Approvals of one deployment
 * live equally long, so the ones that expire first, at the head of the `due` index, are the oldest. One Query, and a read
 * for each suspension that it names.
 */
export async function oldestPendingMs(deps: DynamoDeps, guard: Pick<GuardStore, 'getSuspension'>): Promise<number> {
  const now = deps.clock.now();
  const ids = await soonestDue(deps);
  const ages = await Promise.all(
    ids.map(async (suspensionId) => {
      const suspension = await guard.getSuspension(suspensionId);
      if (suspension === undefined) return 0;
      return Math.max(0, ...pendingCalls(suspension).map((callId) => now - (suspension.approvals[callId]?.requestedAt ?? now)));
    }),
  );
  return Math.max(0, ...ages);
}

async function soonestDue(deps: DynamoDeps): Promise<string[]> {
  const at = placeholders();
  const answer = await deps.client.send(
    new QueryCommand({
      TableName: deps.tables.guard,
      IndexName: 'due',
      KeyConditionExpression: `${at.name('dueShard')}=${at.value(DUE_SHARD)}`,
      ...at.attributes(),
      Limit: LOOKED_AT,
    }),
  );
  return z
    .array(z.object({ pk: z.string() }))
    .parse(answer.Items ?? [])
    .map(({ pk }) => suspensionIdOfPk(pk));
}
