import { type Json, type JsonObject, jsonBytes } from '../json.ts';
import { eventKey, type PlacedEvent, type RunEvent } from './event.ts';

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
/** In place of what the checkers said: as in the event of that number in the same commit. */
const SAME = 'same_as';

/**
 * The events of a commit in the room there is; no event is lost. What the checkers said of many calls is mostly one and
 * the same, and is kept once; then texts are shortened. Should even that be too much (checkers of the operator's may say
 * as much as they like), the decisions go without it and say so. Half characters are replaced.
 */
export function fitEvents(events: readonly RunEvent[]): RunEvent[] {
  for (const cut of CUTS) {
    const fitting = shared(events.map((event) => ({ ...event, data: shortened(event.data, () => cut) })));
    if (jsonBytes(fitting) <= EVENTS_BYTES) return fitting;
  }
  const last = (key: string): number => (PROSE.includes(key) ? LAST_CUT : (CUTS.at(-1) ?? LAST_CUT));
  const least = events.map((event) => ({ ...event, data: shortened(event.data, last) }));
  const fitting = shared(least);
  return jsonBytes(fitting) <= EVENTS_BYTES ? fitting : least.map(bare);
}

/** Events that ride in a run, as its readers get them: placed, and each whole again. */
export function placeEvents({ step, events }: { readonly step: number; readonly events: readonly RunEvent[] }): PlacedEvent[] {
  return events.map((event, n) => {
    const { answers } = event.data;
    const at = isObject(answers) ? answers[SAME] : undefined;
    const said = typeof at === 'number' ? events[at]?.data['answers'] : undefined;
    const data = said === undefined ? event.data : { ...event.data, answers: said };
    return { ...event, data, step, key: eventKey(step, 'reason', n) };
  });
}

function shared(events: readonly RunEvent[]): RunEvent[] {
  const first = new Map<string, number>();
  return events.map((event, n) => {
    const { answers } = event.data;
    if (!Array.isArray(answers)) return event;
    const text = JSON.stringify(answers);
    const at = first.get(text);
    if (at === undefined) first.set(text, n);
    return at === undefined ? event : { ...event, data: { ...event.data, answers: { [SAME]: at } } };
  });
}

function bare(event: RunEvent): RunEvent {
  if (event.type !== 'guard.decision') return event;
  const { answers: _answers, looked_at: _lookedAt, ...rest } = event.data;
  return { ...event, data: { ...rest, shortened: true } };
}

function shortened(data: JsonObject, cutOf: (key: string) => number): JsonObject {
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key.toWellFormed(), shortenedValue(value, key, cutOf)]));
}

function shortenedValue(value: Json, key: string, cutOf: (key: string) => number): Json {
  if (typeof value === 'string')
    return value.length <= cutOf(key) ? value.toWellFormed() : `${value.slice(0, cutOf(key) - 1).toWellFormed()}…`;
  if (Array.isArray(value)) return value.map((item) => shortenedValue(item, key, cutOf));
  return isObject(value) ? shortened(value, cutOf) : value;
}

const isObject = (value: Json | undefined): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value);
