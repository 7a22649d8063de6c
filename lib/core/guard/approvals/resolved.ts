import { approvalIdOf } from '../../ids.ts';
import { eventKey, type PlacedEvent } from '../../loop/event.ts';
import { maskJson } from '../../preview.ts';
import type { ApprovalDeps } from './deps.ts';
import type { Suspension } from './suspension.ts';

/**
 * The `approval.resolved` events of all final decisions. Key, time and data follow from the item alone, so an event
 * written twice is one event (design 5.3). Their numbers begin at 1.
 */
export function resolvedEvents(suspension: Suspension): PlacedEvent[] {
  const step = Number(suspension.suspensionId.slice(suspension.suspensionId.lastIndexOf('-') + 1));
  return Object.keys(suspension.approvals)
    .sort()
    .flatMap((callId, index) => {
      const approval = suspension.approvals[callId];
      if (!approval || approval.status === 'pending') return [];
      const { decision } = approval;
      const data = {
        approvalId: approvalIdOf(suspension.suspensionId, callId),
        callId,
        kind: approval.kind,
        tool: approval.tool,
        status: approval.status,
        ...(decision ? { by: decision.by, how: decision.how } : {}),
        ...(decision?.reason === undefined ? {} : { reason: decision.reason }),
      };
      return [
        {
          type: 'approval.resolved' as const,
          at: decision?.at ?? approval.expiresAt,
          data: maskJson(data),
          step,
          key: eventKey(step, 'decide', index + 1),
        },
      ];
    });
}

/** Writes them all; before a run is woken this must have worked. */
export async function writeResolved(deps: ApprovalDeps, suspension: Suspension): Promise<void> {
  const events = resolvedEvents(suspension);
  if (events.length > 0) await deps.runs.write({ tenant: suspension.tenant, runId: suspension.runId }, suspension.sessionId, [], events);
}
