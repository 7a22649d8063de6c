import { type Json, type JsonObject, jsonBytes } from '../json.ts';
import type { RunEvent } from './event.ts';

/**
 * Bytes that the events of one commit may take: they ride in the run item (design 3.2) beside an input, an answer and an
 * open batch that may all be as large as they can.
 */
const EVENTS_BYTES = 56_000;
/** Characters of each text that are tried in turn. Ids and names are shorter than the last but one. */
const CUTS = [2_000, 200, 64];
/** What remains of texts that say nothing a program reads, if that is still too much. */
const LAST_CUT = 12;
const PROSE: readonly string[] = ['reason', 'message', 'error', 'args_preview', 'result_preview', 'answers', 'looked_at'];

/** The events of a commit in the room there is: texts are shortened, no event is lost. Half characters are replaced. */
export function fitEvents(events: readonly RunEvent[]): RunEvent[] {
  for (const cut of CUTS) {
    const fitting = events.map((event) => ({ ...event, data: shortened(event.data, () => cut) }));
    if (jsonBytes(fitting) <= EVENTS_BYTES) return fitting;
  }
  const last = (key: string): number => (PROSE.includes(key) ? LAST_CUT : (CUTS.at(-1) ?? LAST_CUT));
  return events.map((event) => ({ ...event, data: shortened(event.data, last) }));
}

function shortened(data: JsonObject, cutOf: (key: string) => number): JsonObject {
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key.toWellFormed(), shortenedValue(value, key, cutOf)]));
}

function shortenedValue(value: Json, key: string, cutOf: (key: string) => number): Json {
  if (typeof value === 'string')
    return value.length <= cutOf(key) ? value.toWellFormed() : `${value.slice(0, cutOf(key) - 1).toWellFormed()}…`;
  if (Array.isArray(value)) return value.map((item) => shortenedValue(item, key, cutOf));
  return typeof value === 'object' && value !== null ? shortened(value, cutOf) : value;
}
