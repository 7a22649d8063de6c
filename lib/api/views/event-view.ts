import { PROGRESS_MS } from '../../core/limits.ts';
import type { PlacedEvent } from '../../core/loop/event.ts';
import type { Run } from '../../core/loop/run.ts';
import { isTerminal } from '../../core/loop/run-status.ts';
import { callsInFlight } from './run-view.ts';

/** Enough for a page; a step is never parted, so an answer may hold some more. */
const PAGE_EVENTS = 500;

export interface EventPage {
  readonly events: PlacedEvent[];
  /** Ask again with this `after`; it repeats the last step, whose events may still grow, unless that alone filled the answer. */
  readonly next: number;
  /** There are later events now. */
  readonly more: boolean;
}

/** The first whole steps of `events`, with a sign of life of each call that has been at work for a while. */
export function eventPage(run: Run, events: readonly PlacedEvent[], after: number, now: number): EventPage {
  const end = endOfPage(events);
  const shown = events.slice(0, end);
  const last = shown.at(-1)?.step ?? after;
  const later = events[end];
  if (later === undefined) return { events: [...shown, ...progress(run, after, now)], next: last, more: false };
  return { events: shown, next: last > after ? last : later.step, more: true };
}

function endOfPage(events: readonly PlacedEvent[]): number {
  if (events.length <= PAGE_EVENTS) return events.length;
  const step = events[PAGE_EVENTS - 1]?.step;
  const next = events.findIndex((event, index) => index >= PAGE_EVENTS && event.step !== step);
  return next === -1 ? events.length : next;
}

/**
 * No tool can write its own progress, so it is made up for the reader (seed 004 section 7.3). The key counts whole
 * periods: a reader who drops keys it has sees one event per call and period.
 */
function progress(run: Run, after: number, now: number): PlacedEvent[] {
  if (isTerminal(run) || run.step < after) return [];
  return callsInFlight(run).flatMap(({ callId, tool, startedAt }) => {
    const periods = startedAt === undefined ? 0 : Math.floor((now - startedAt) / PROGRESS_MS);
    if (startedAt === undefined || periods < 1) return [];
    return [
      {
        type: 'tool.call.progress' as const,
        at: startedAt + periods * PROGRESS_MS,
        data: { callId, tool, elapsedMs: periods * PROGRESS_MS },
        step: run.step,
        key: `EVT#${String(run.step).padStart(6, '0')}#9#${callId}#${periods}`,
      },
    ];
  });
}
