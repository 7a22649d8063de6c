import { DeleteCommand, GetCommand } from '@aws-sdk/lib-dynamodb';
import { HandrailError } from '../../../core/errors.ts';
import { DEPLOYMENT } from '../../../core/guard/policy.ts';
import { noPermits } from '../../../core/hands/permits-item.ts';
import type { RunKey } from '../../../core/ids.ts';
import { RUN_ITEM_BYTES } from '../../../core/limits.ts';
import { eventKey, type PlacedEvent } from '../../../core/loop/event.ts';
import { placeEvents } from '../../../core/loop/event-size.ts';
import { PROGRESS_KEYS, type Run } from '../../../core/loop/run.ts';
import type { Session } from '../../../core/loop/session.ts';
import type { CommitCondition, CommitOutcome, RunStore, StepInputs } from '../../../core/ports/run-store.ts';
import { ttlAfter } from '../../../core/retention.ts';
import { itemBytes } from './codec.ts';
import { deferDue, readDue } from './due.ts';
import { erasePartition } from './erase.ts';
import { placeholders, setOrRemove } from './expression.ts';
import { fromPermitsItem, fromPolicyItem, fromSuspensionItem } from './guard-items.ts';
import { permitsItemKey, policyItemKey, RUN, runItemKey, runPk, sessionItemKey, suspensionItemKey } from './keys.ts';
import { listByTenant } from './lists.ts';
import { toMessageItems } from './message-items.ts';
import {
  batchGet,
  batchPut,
  conditionalPut,
  conditionalUpdate,
  type DynamoDeps,
  getItem,
  isConditionFailure,
  itemAt,
  itemsAt,
  queryPages,
} from './requests.ts';
import { fromEventItem, fromRiding, fromRunItem, fromSessionItem, toEventItem, toProgress, toRunItem, toSessionItem } from './run-items.ts';
import { listCommits, readTranscript } from './transcript.ts';

/** Epoch seconds after which DynamoDB may drop what is written. Whatever a run writes again is kept as long again. */
type Expiry = { readonly ttl?: number };

/** A session's shared state is in one item of at most 400 KB (service limit), which also holds the rest of it. */
const SESSION_ITEM_BYTES = 390_000;

/** The sessions table (design sections 3.2 and 4). Also reads the guard table: what a step starts from, and what sweep looks at. */
/** `keepDays`: how long what is written is kept; absent = until it is deleted. A session's own item stays: it holds no text. */
export function dynamoRunStore(deps: DynamoDeps, keepDays?: number): RunStore {
  const table = deps.tables.sessions;
  const expiry = (): Expiry => (keepDays === undefined ? {} : { ttl: ttlAfter(deps.clock.now(), keepDays) });
  return {
    loadStep: (key, suspensionId) => loadStep(deps, key, suspensionId),
    getRun: (key) => getRun(deps, key),
    createRun: (run) => createRun(deps, run, expiry()),
    deleteStarting: (key) => deleteStarting(deps, key),
    markRunning: (run) => markRunning(deps, run, expiry()),
    async getSession(key) {
      const item = await getItem(deps, table, sessionItemKey(key));
      return item && fromSessionItem(item);
    },
    swapSession: (session, expected) => swapSession(deps, session, expected),
    write: async (key, sessionId, messages, events) =>
      batchPut(
        deps,
        table,
        [
          ...messages.flatMap((write) => toMessageItems({ tenant: key.tenant, sessionId }, write)),
          ...events.map((event) => toEventItem(key, event)),
        ].map((item) => ({ ...item, ...expiry() })),
      ),
    commit: (run, condition) => commit(deps, run, condition, expiry()),
    requestCancel: (key, at, by) => requestCancel(deps, key, at, by),
    postponeRun: (key, step, dueAt) => postponeRun(deps, key, step, dueAt),
    readTranscript: (key, head, atLeast, through) => readTranscript(deps, key, head, atLeast, through, keepDays !== undefined),
    listCommits: (key, runSeq) => listCommits(deps, key, runSeq),
    eraseRun: (key) => erasePartition(deps, table, runItemKey(key)),
    eraseSession: (key) => erasePartition(deps, table, sessionItemKey(key)),
    readEvents: (key, after) => readEvents(deps, key, after),
    listRuns: (tenant, query) => listRuns(deps, tenant, query),
    due: (kind, now, page) => readDue(deps, kind, now, page),
    deferDue: (item, now, delays) => deferDue(deps, item, now, delays),
  };
}

async function loadStep(deps: DynamoDeps, key: RunKey, suspensionId: string): Promise<StepInputs> {
  const { sessions, guard } = deps.tables;
  const policyKeys = [policyItemKey(DEPLOYMENT), policyItemKey(key.tenant)];
  const suspensionKey = suspensionItemKey(suspensionId);
  const items = await batchGet(deps, { [sessions]: [runItemKey(key)], [guard]: [...policyKeys, permitsItemKey, suspensionKey] }, true);
  const run = itemAt(items, sessions, runItemKey(key));
  const permits = itemAt(items, guard, permitsItemKey);
  const suspension = itemAt(items, guard, suspensionKey);
  return {
    run: run && fromRunItem(run),
    policies: itemsAt(items, guard, policyKeys).map(fromPolicyItem),
    permits: permits ? fromPermitsItem(permits) : noPermits,
    suspension: suspension && fromSuspensionItem(suspension),
  };
}

async function getRun(deps: DynamoDeps, key: RunKey): Promise<Run | undefined> {
  const item = await getItem(deps, deps.tables.sessions, runItemKey(key));
  return item && fromRunItem(item);
}

async function createRun(deps: DynamoDeps, run: Run, expiry: Expiry): Promise<{ created: boolean; run: Run }> {
  const at = placeholders();
  const { done, item } = await conditionalPut(
    deps,
    deps.tables.sessions,
    { ...fitting(run), ...expiry },
    at,
    `attribute_not_exists(${at.name('pk')})`,
  );
  if (!item) throw new HandrailError('CONFLICT', `run ${run.runId} was withdrawn while it was created; try again`);
  return { created: done, run: fromRunItem(item) };
}

async function deleteStarting(deps: DynamoDeps, key: RunKey): Promise<void> {
  const at = placeholders();
  const condition = `${at.name('status')}=${at.value('starting')}`;
  try {
    await deps.client.send(
      new DeleteCommand({ TableName: deps.tables.sessions, Key: runItemKey(key), ConditionExpression: condition, ...at.attributes() }),
    );
  } catch (error) {
    if (!isConditionFailure(error)) throw error;
  }
}

async function markRunning(deps: DynamoDeps, run: Run, expiry: Expiry): Promise<boolean> {
  fitting(run);
  const at = placeholders();
  const update = setOrRemove(at, [...PROGRESS_KEYS, 'ttl'], { ...toProgress(run), ...expiry });
  const condition = `${at.name('status')}=${at.value('starting')}`;
  return (await conditionalUpdate(deps, deps.tables.sessions, runItemKey(run), { at, update, condition, answer: 'NONE' })).done;
}

async function swapSession(deps: DynamoDeps, session: Session, expected: string | undefined): Promise<boolean> {
  const item = toSessionItem(session);
  if (itemBytes(item) > SESSION_ITEM_BYTES)
    throw new HandrailError('RESOURCE_EXHAUSTED', `the shared state of session ${session.sessionId} is over ${SESSION_ITEM_BYTES} bytes`);
  const at = placeholders();
  const held = at.name('activeRun');
  const condition = expected === undefined ? `attribute_not_exists(${held})` : `${held}=${at.value(expected)}`;
  const swapped = await conditionalPut(deps, deps.tables.sessions, item, at, condition);
  if (swapped.done || !swapped.item) return swapped.done;
  // A retry after a lost answer finds its own write.
  const stands = fromSessionItem(swapped.item);
  return stands.activeRun === session.activeRun && stands.runSeq === session.runSeq && session.activeRun !== undefined;
}

async function commit(deps: DynamoDeps, run: Run, expected: CommitCondition, expiry: Expiry): Promise<CommitOutcome> {
  fitting(run);
  const at = placeholders();
  const update = setOrRemove(at, [...PROGRESS_KEYS, 'ttl'], { ...toProgress(run), ...expiry });
  const condition = [
    `${at.name('step')}=${at.value(expected.step)}`,
    `${at.name('status')} IN (${at.value('running')},${at.value('waiting')})`,
    `${at.name('execution')}=${at.value(expected.execution)}`,
    ...(expected.finish ? [] : [`attribute_not_exists(${at.name('cancelRequestedAt')})`]),
  ].join(' AND ');
  const outcome = await conditionalUpdate(deps, deps.tables.sessions, runItemKey(run), { at, update, condition, answer: 'NONE' });
  if (outcome.done) return { committed: true };
  const stands = outcome.item && fromRunItem(outcome.item);
  // The client repeats a request whose answer was lost: then the commit that stands is this very one, not a winner's.
  if (stands && stands.step === run.step && stands.attempt === run.attempt && run.attempt !== '') return { committed: true };
  return { committed: false, run: stands };
}

async function requestCancel(deps: DynamoDeps, key: RunKey, when: number, by: string): Promise<Run | undefined> {
  const at = placeholders();
  const mark = at.name('cancelRequestedAt');
  const update = `SET ${mark}=${at.value(when)},${at.name('cancelRequestedBy')}=${at.value(by)}`;
  const condition = `${at.name('status')} IN (${at.value('running')},${at.value('waiting')}) AND attribute_not_exists(${mark})`;
  const { item } = await conditionalUpdate(deps, deps.tables.sessions, runItemKey(key), { at, update, condition });
  return item && fromRunItem(item);
}

async function postponeRun(deps: DynamoDeps, key: RunKey, step: number, dueAt: number): Promise<void> {
  const at = placeholders();
  const update = `SET ${at.name('dueAt')}=${at.value(dueAt)}`;
  // A run that has ended has no `dueAt`, and must not come back into the index.
  const condition = `${at.name('step')}=${at.value(step)} AND attribute_exists(${at.name('dueAt')})`;
  await conditionalUpdate(deps, deps.tables.sessions, runItemKey(key), { at, update, condition, answer: 'NONE' });
}

/**
 * The run item first, then the items: a commit moves the events that ride in the run to items of their own before it
 * replaces them, so read in this order none can be missed.
 */
async function readEvents(deps: DynamoDeps, key: RunKey, after: number): Promise<PlacedEvent[]> {
  const events = new Map<string, PlacedEvent>();
  const riding = await ridingEvents(deps, key);
  for (const event of riding) if (event.step >= after) events.set(event.key, event);
  const at = placeholders();
  const low = eventKey(Math.max(0, after), 'reason', 0);
  const condition = `${at.name('pk')}=${at.value(runPk(key))} AND ${at.name('sk')} BETWEEN ${at.value(low)} AND ${at.value(`${eventKey(999_999, 'settle', 9999)}~`)}`;
  for await (const items of queryPages(deps, deps.tables.sessions, at, { condition }))
    for (const item of items) {
      const event = fromEventItem(item);
      events.set(event.key, event);
    }
  return [...events.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
}

async function ridingEvents(deps: DynamoDeps, key: RunKey): Promise<PlacedEvent[]> {
  const at = placeholders();
  const projection = ['pk', 'sk', 'v', 'step', 'events'].map((name) => at.name(name)).join(',');
  const answer = await deps.client.send(
    new GetCommand({
      TableName: deps.tables.sessions,
      Key: runItemKey(key),
      ConsistentRead: true,
      ProjectionExpression: projection,
      ...at.attributes(),
    }),
  );
  return answer.Item ? placeEvents(fromRiding(answer.Item)) : [];
}

async function listRuns(deps: DynamoDeps, tenant: string, query: Parameters<RunStore['listRuns']>[1]): ReturnType<RunStore['listRuns']> {
  const { sessions } = deps.tables;
  const filter = {
    ...(query.status === undefined ? {} : { status: query.status }),
    ...(query.sessionId === undefined ? {} : { sessionId: query.sessionId }),
  };
  return listByTenant(deps, {
    table: sessions,
    index: 'byTenant',
    tenant,
    limit: query.limit,
    cursor: query.cursor,
    ...(Object.keys(filter).length > 0 ? { filter } : {}),
    keyOf: (runId) => ({ pk: runPk({ tenant, runId }), sk: RUN }),
    async fetch(ids) {
      const keys = ids.map((runId) => runItemKey({ tenant, runId }));
      const items = await batchGet(deps, { [sessions]: keys }, false);
      const runs = itemsAt(items, sessions, keys).map(fromRunItem);
      return runs.filter((run) => query.status === undefined || run.status === query.status);
    },
  });
}

/** The run's item, if it is not too large (design 3.2). */
function fitting(run: Run): ReturnType<typeof toRunItem> {
  const item = toRunItem(run);
  const bytes = itemBytes(item);
  if (bytes >= RUN_ITEM_BYTES)
    throw new HandrailError('RESOURCE_EXHAUSTED', `the state of run ${run.runId} takes ${bytes} bytes; ${RUN_ITEM_BYTES} is the most`);
  return item;
}
