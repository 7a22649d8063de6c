import type { Permits } from '../hands/permits-item.ts';
import { waiterKey } from './keys.ts';
import type { Run } from './run.ts';

/**
 * Leases of calls that ended in an earlier step and whose release was overtaken by others too often: the next step that
 * changes the permits gives them back. Never those of a call that is open, or of one that this step will make: another
 * attempt at this very step may hold them.
 */
export function staleLeases({ runId, step, frames }: Run, { leases }: Permits): string[] {
  const open = new Set(
    frames.flatMap(({ batch }) => batch?.calls.filter(({ state }) => state !== 'done').map(({ callId }) => callId) ?? []),
  );
  return leases.flatMap(({ run, key }) => {
    if (run !== runId) return [];
    const [callId = ''] = key.slice(waiterKey(runId, '').length).split('#');
    return open.has(callId) || !(stepOf(callId) <= step) ? [] : [key];
  });
}

/** `c<step>-<i>` */
const stepOf = (callId: string): number => Number(/^c(\d+)-/.exec(callId)?.[1] ?? Number.NaN);
