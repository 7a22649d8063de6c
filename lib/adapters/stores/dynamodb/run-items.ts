import * as z from 'zod';
import type { RunKey } from '../../../core/ids.ts';
import { jsonObjectSchema } from '../../../core/json.ts';
import { eventSchema, type PlacedEvent, placedEventSchema } from '../../../core/loop/event.ts';
import { PROGRESS_KEYS, type Run, runSchema } from '../../../core/loop/run.ts';
import { type Session, sessionSchema } from '../../../core/loop/session.ts';
import { fromItem, type Item, parseText, toItem } from './codec.ts';
import { type ItemKey, listKey, runItemKey, runPk, sessionItemKey } from './keys.ts';
import { DUE_SHARD } from './tables.ts';

/** Parts of a run that are stored as JSON text; conditions, indexes and lists need only the others. */
const RUN_TEXT: ReadonlySet<string> = new Set([
  'constraints',
  'plan',
  'frames',
  'guard',
  'usage',
  'effects',
  'stateChanges',
  'storedChanges',
  'timings',
  'work',
  'events',
  'error',
]);
const SESSION_TEXT: ReadonlySet<string> = new Set(['state', 'stored']);
const NO_TEXT: ReadonlySet<string> = new Set();

export const toRunItem = (run: Run): Item & ItemKey => ({
  ...runItemKey(run),
  ...toItem(run, RUN_TEXT),
  listKey: listKey(run.createdAt, run.runId),
  dueShard: DUE_SHARD,
});

/** What a commit may change, as attributes; what is undefined in the run is absent here and to be removed. */
export function toProgress(run: Run): Item {
  return toItem(Object.fromEntries(PROGRESS_KEYS.map((key) => [key, run[key]])), RUN_TEXT);
}

export const fromRunItem = (item: Item): Run => fromItem(runSchema, item, RUN_TEXT);

export const toSessionItem = (session: Session): Item & ItemKey => ({ ...sessionItemKey(session), ...toItem(session, SESSION_TEXT) });
export const fromSessionItem = (item: Item): Session => fromItem(sessionSchema, item, SESSION_TEXT);

const eventItemSchema = z.object({ v: z.literal(1), sk: z.string(), step: z.int(), type: z.string(), at: z.number(), data: z.string() });
const ridingSchema = z.object({ step: z.int(), events: z.array(eventSchema) });

export function toEventItem(key: RunKey, event: PlacedEvent): Item & ItemKey {
  const { key: sk, ...rest } = event;
  return { pk: runPk(key), sk, v: 1, ...toItem(rest, new Set(['data'])) };
}

export function fromEventItem(item: Item): PlacedEvent {
  const stored = fromItem(eventItemSchema, item, NO_TEXT);
  return placedEventSchema.parse({
    key: stored.sk,
    step: stored.step,
    type: stored.type,
    at: stored.at,
    data: parseText(jsonObjectSchema, item, stored.data),
  });
}

/** The step of a run item and the events of that commit, which still ride in it. */
export const fromRiding = (item: Item): z.infer<typeof ridingSchema> => fromItem(ridingSchema, item, RUN_TEXT);
