import { type EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import type { Json } from '../../core/json.ts';
import type { PlacedEvent } from '../../core/loop/event.ts';
import type { EventBus } from '../../core/ports/event-bus.ts';
import type { Logger } from '../../core/ports/logger.ts';

/** Not the source of notices, whose `approval.requested` has a link in it. */
const SOURCE = 'handrail.events';
/** Entries of one PutEvents (service quota); all events of a commit together are far below its 256 KiB. */
const ENTRIES = 10;
/** A bus that does not answer holds up a step no longer than this, ms. */
const PATIENCE_MS = 1_000;

export interface EventBridgeBusOptions {
  readonly client: EventBridgeClient;
  /** Name or ARN. */
  readonly bus: string;
  readonly logger: Pick<Logger, 'warn'>;
  /** What of an event may be told. */
  fields(event: PlacedEvent): Record<string, Json>;
}

/** Events on an EventBridge bus, best effort: `detail-type` is the event's type, `key` tells a repeated one. */
export function eventBridgeBus({ client, bus, logger, fields }: EventBridgeBusOptions): EventBus {
  return {
    async publish({ tenant, runId, sessionId }, events) {
      const entries = events.map((event) => ({
        EventBusName: bus,
        Source: SOURCE,
        DetailType: event.type,
        Time: new Date(event.at),
        Detail: JSON.stringify({ tenant, runId, sessionId, step: event.step, key: event.key, at: event.at, data: fields(event) }),
      }));
      const abortSignal = AbortSignal.timeout(PATIENCE_MS);
      const batches = Array.from({ length: Math.ceil(entries.length / ENTRIES) }, (_, n) => entries.slice(n * ENTRIES, (n + 1) * ENTRIES));
      const sent = await Promise.allSettled(batches.map((Entries) => client.send(new PutEventsCommand({ Entries }), { abortSignal })));
      const lost = sent.reduce(
        (sum, one, n) => sum + (one.status === 'rejected' ? (batches[n]?.length ?? 0) : (one.value.FailedEntryCount ?? 0)),
        0,
      );
      // Without the error: it may repeat what was sent.
      if (lost > 0) logger.warn('events could not be sent to the bus; they are in the event log', { events: lost });
    },
  };
}
