import { HandrailError } from '../../../core/errors.ts';
import { pendingCalls } from '../../../core/guard/approvals/suspension.ts';
import type { GuardStore } from '../../../core/ports/guard-store.ts';
import type { DueItem } from '../../../core/ports/run-store.ts';
import { readDue } from './due.ts';
import type { DynamoDeps } from './requests.ts';

/** Some of the first may have been decided already, be due for another reason, or be unreadable. */
const PAGE = 10;
const PAGES = 10;

/**
 * ms that the request to a person that has waited longest has waited; 0 when nothing waits. Approvals of one deployment
 * live equally long, so the ones that expire first, at the head of the `due` index, are the oldest. Mostly one Query, and a
 * read for each suspension that it names.
 */
export async function oldestPendingMs(deps: DynamoDeps, guard: Pick<GuardStore, 'getSuspension'>): Promise<number> {
  const now = deps.clock.now();
  let cursor: string | undefined;
  for (let page = 0; page < PAGES; page++) {
    const { items, cursor: next } = await readDue(deps, 'suspension', Number.MAX_SAFE_INTEGER, {
      limit: PAGE,
      ...(cursor === undefined ? {} : { cursor }),
    });
    const oldest = Math.max(0, ...(await Promise.all(items.map((item) => waitedMs(guard, item, now)))));
    if (oldest > 0 || next === undefined) return oldest;
    cursor = next;
  }
  return 0;
}

async function waitedMs(guard: Pick<GuardStore, 'getSuspension'>, item: DueItem, now: number): Promise<number> {
  if (item.kind !== 'suspension') return 0;
  try {
    const suspension = await guard.getSuspension(item.suspensionId);
    if (suspension === undefined) return 0;
    return Math.max(0, ...pendingCalls(suspension).map((callId) => now - (suspension.approvals[callId]?.requestedAt ?? now)));
  } catch (error) {
    // One that cannot be read is sweep's to tell of, and hides no other.
    if (error instanceof HandrailError && error.code === 'INTERNAL') return 0;
    throw error;
  }
}
