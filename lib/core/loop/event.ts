import * as z from 'zod';
import { jsonSchema } from '../json.ts';

/** The event log (design section 10 and seed 000's telemetry table). Adding a kind touches this list only. */
export const EVENT_TYPES = [
  'run.started',
  'run.continued',
  'run.recovered',
  'run.finished',
  'run.cancel_requested',
  'llm.call.completed',
  'llm.call.failed',
  'guard.decision',
  'approval.requested',
  'approval.resolved',
  'tool.call.started',
  'tool.call.progress',
  'tool.call.completed',
  'tool.call.failed',
  'frame.started',
  'frame.ended',
  'bt.skill.node.io',
  'bt.skill.warning',
] as const;

/** Who wrote an event, which orders events of one step: part of its key (design section 4). */
export const EVENT_RANK = { reason: 0, suspend: 1, decide: 2, settle: 3 } as const;
export type EventSource = keyof typeof EVENT_RANK;

export const eventSchema = z.object({
  type: z.enum(EVENT_TYPES),
  /** ms since 1970. */
  at: z.number(),
  data: z.record(z.string(), jsonSchema),
});
export type RunEvent = z.infer<typeof eventSchema>;

/** An event where it stands. `key` is unique in the run and sorts in order. */
export const placedEventSchema = eventSchema.extend({ key: z.string(), step: z.int() });
export type PlacedEvent = z.infer<typeof placedEventSchema>;

/** `EVT#<step, 6 digits>#<rank>#<n, 4 digits>` (design section 4). */
export function eventKey(step: number, source: EventSource, n: number): string {
  return `EVT#${String(step).padStart(6, '0')}#${EVENT_RANK[source]}#${String(n).padStart(4, '0')}`;
}
