import { type EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { HandrailError } from '../../core/errors.ts';
import type { Notice } from '../../core/ports/notices.ts';
import type { Channel } from './channel.ts';

/** What rules match by `source` and `detail-type`. */
const SOURCE = 'handrail';
const DETAIL_TYPE = 'approval.requested';
/** An entry of PutEvents may have 256 KiB (service quota); the rest is for what is not the detail. */
const DETAIL_BYTES = 250_000;

/** An event bus, for rules of one's own; the detail is the notice. `bus`: name or ARN. Retries are the client's. */
export function eventBridgeChannel(client: EventBridgeClient, bus: string): Channel {
  return {
    name: 'eventbridge',
    async send(notice) {
      const entry = { EventBusName: bus, Source: SOURCE, DetailType: DETAIL_TYPE, Detail: detailOf(notice) };
      const answer = await client.send(new PutEventsCommand({ Entries: [entry] }));
      // The service answers 200 for an entry that it did not take.
      if ((answer.FailedEntryCount ?? 0) === 0) return;
      throw new HandrailError(
        'SERVICE_UNAVAILABLE',
        `the event bus did not take the notice: ${answer.Entries?.[0]?.ErrorCode ?? 'unknown'}`,
      );
    },
  };
}

function detailOf(notice: Notice): string {
  const whole = JSON.stringify(notice);
  if (Buffer.byteLength(whole) <= DETAIL_BYTES) return whole;
  return JSON.stringify({ ...notice, approvals: notice.approvals.map((approval) => ({ ...approval, reason: '…', arguments: '…' })) });
}
