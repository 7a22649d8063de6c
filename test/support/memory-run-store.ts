import { HandrailError } from '../../lib/core/errors.ts';
import { DEPLOYMENT } from '../../lib/core/guard/policy.ts';
import { noPermits } from '../../lib/core/hands/permits-item.ts';
import type { RunKey } from '../../lib/core/ids.ts';
import { type PlacedEvent, placedEventSchema } from '../../lib/core/loop/event.ts';
import { placeEvents } from '../../lib/core/loop/event-size.ts';
import { parsePrefix } from '../../lib/core/loop/keys.ts';
import type { PlacedMessage } from '../../lib/core/loop/message.ts';
import { PROGRESS_KEYS, type Run, runSchema } from '../../lib/core/loop/run.ts';
import { isTerminal } from '../../lib/core/loop/run-status.ts';
import { type Session, sessionSchema } from '../../lib/core/loop/session.ts';
import type { CommitCondition, DueItem, DueKind, MessageWrite, RunStore, SessionKey } from '../../lib/core/ports/run-store.ts';
import { type Gate, type MemoryState, pageOf, stored } from './memory-state.ts';

const runId = ({ tenant, runId: id }: RunKey): string => `${tenant}#${id}`;
const sessionId = ({ tenant, sessionId: id }: SessionKey): string => `${tenant}#${id}`;

/** The sessions table in Maps: each operation waits at the gate, then happens at once, under the same conditions as the real one. */
export function memoryRunStore(state: MemoryState, gate: Gate): RunStore {
  return {
    async loadStep(key, suspensionId) {
      await gate('loadStep');
      const policies = [state.policies.get(DEPLOYMENT), state.policies.get(key.tenant)].flatMap((policy) => policy ?? []);
      const run = state.runs.get(runId(key));
      const suspension = state.suspensions.get(suspensionId);
      return structuredClone({ run, policies, permits: state.permits ?? noPermits, suspension });
    },
    async getRun(key) {
      await gate('getRun');
      return structuredClone(state.runs.get(runId(key)));
    },
    async createRun(run) {
      await gate('createRun');
      const there = state.runs.get(runId(run));
      if (!there) state.runs.set(runId(run), stored(runSchema, run));
      return { created: !there, run: structuredClone(there ?? run) };
    },
    async deleteStarting(key) {
      await gate('deleteStarting');
      if (state.runs.get(runId(key))?.status === 'starting') state.runs.delete(runId(key));
    },
    async markRunning(run) {
      await gate('markRunning');
      const there = state.runs.get(runId(run));
      if (there?.status !== 'starting') return false;
      progress(state, there, run);
      return true;
    },
    async getSession(key) {
      await gate('getSession');
      return structuredClone(state.sessions.get(sessionId(key)));
    },
    async swapSession(session: Session, expected) {
      await gate('swapSession');
      if (state.sessions.get(sessionId(session))?.activeRun !== expected) return false;
      state.sessions.set(sessionId(session), stored(sessionSchema, session));
      return true;
    },
    async write(key, session, messages, events) {
      await gate('write');
      const commits = within(state.messages, sessionId({ tenant: key.tenant, sessionId: session }));
      for (const write of messages) commits.set(write.prefix, structuredClone(write));
      const log = within(state.events, runId(key));
      for (const event of events) log.set(event.key, stored(placedEventSchema, event));
    },
    async commit(run, condition) {
      await gate('commit');
      const there = state.runs.get(runId(run));
      if (!there || !holds(there, condition)) return { committed: false, run: structuredClone(there) };
      progress(state, there, run);
      return { committed: true };
    },
    async requestCancel(key, at, by) {
      await gate('requestCancel');
      const run = state.runs.get(runId(key));
      if (run && !isTerminal(run) && run.status !== 'starting' && run.cancelRequestedAt === undefined)
        Object.assign(run, { cancelRequestedAt: at, cancelRequestedBy: by });
      return structuredClone(run);
    },
    async postponeRun(key, step, dueAt) {
      await gate('postponeRun');
      const run = state.runs.get(runId(key));
      if (run?.step === step && run.dueAt !== undefined) run.dueAt = dueAt;
    },
    async readTranscript(key, head, atLeast, through) {
      await gate('readTranscript');
      return structuredClone(walk(within(state.messages, sessionId(key)), head, atLeast, through));
    },
    async listCommits(key, runSeq) {
      await gate('listCommits');
      const commits = [...within(state.messages, sessionId(key)).values()].filter(({ prefix }) => parsePrefix(prefix)?.runSeq === runSeq);
      return structuredClone(commits.sort((a, b) => (a.prefix < b.prefix ? -1 : 1)));
    },
    async eraseRun(key) {
      await gate('eraseRun');
      state.events.delete(runId(key));
      state.runs.delete(runId(key));
    },
    async eraseSession(key) {
      await gate('eraseSession');
      state.messages.delete(sessionId(key));
      state.sessions.delete(sessionId(key));
    },
    async readEvents(key, after) {
      await gate('readEvents');
      return structuredClone(eventsOf(state, key).filter((event) => event.step >= after));
    },
    async listRuns(tenant, { limit, cursor, status, sessionId: session }) {
      await gate('listRuns');
      const mine = [...state.runs.values()].filter(
        (run) => run.tenant === tenant && (status ?? run.status) === run.status && (session ?? run.sessionId) === run.sessionId,
      );
      return pageOf(
        mine.sort((a, b) => b.createdAt - a.createdAt),
        limit,
        cursor,
      );
    },
    async due(kind, now, { limit, cursor = '' }) {
      await gate('due');
      const behind = dueItems(state, kind)
        .filter((item) => item.dueAt <= now && placeOf(item) > cursor)
        .sort((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1));
      const items = behind.slice(0, limit);
      const last = items.at(-1);
      return { items, cursor: last && behind.length > limit ? placeOf(last) : undefined };
    },
    async deferDue(item, now, { firstMs, mostMs }) {
      await gate('deferDue');
      const [there, id] = item.kind === 'run' ? [state.runs.get(runId(item.key)), runId(item.key)] : suspensionOf(state, item);
      if (there?.dueAt !== item.dueAt) return 0;
      const last = state.deferrals.get(id);
      const ms = last?.dueAt === item.dueAt ? Math.min(mostMs, 2 * last.ms) : firstMs;
      there.dueAt = now + ms;
      state.deferrals.set(id, { dueAt: there.dueAt, ms });
      return ms;
    },
  };
}

function holds(run: Run, { step, execution, finish }: CommitCondition): boolean {
  const at = run.step === step && run.execution === execution && (run.status === 'running' || run.status === 'waiting');
  return at && (finish || run.cancelRequestedAt === undefined);
}

/** What a commit writes: the progress and nothing else; what it leaves out is removed. */
function progress(state: MemoryState, there: Run, run: Run): void {
  const changed: Record<string, unknown> = { ...there };
  for (const key of PROGRESS_KEYS) changed[key] = run[key];
  state.runs.set(runId(run), stored(runSchema, changed));
}

function eventsOf(state: MemoryState, key: RunKey): PlacedEvent[] {
  const run = state.runs.get(runId(key));
  const riding = run ? placeEvents(run) : [];
  const all = new Map([...riding.map((event) => [event.key, event] as const), ...within(state.events, runId(key))]);
  return [...all.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
}

function walk(
  commits: ReadonlyMap<string, MessageWrite>,
  head: string | undefined,
  atLeast: number,
  through?: { runSeq: number; step: number },
): PlacedMessage[] {
  const found: PlacedMessage[] = [];
  const enough = (): boolean => {
    const oldest = found.at(-1);
    if (!oldest || found.length < atLeast) return false;
    if (!through) return true;
    const distance = oldest.runSeq - through.runSeq || oldest.step - through.step;
    return distance < 0 || (distance === 0 && oldest.message.role === 'assistant');
  };
  for (let prefix = head; prefix !== undefined && !(enough() || (atLeast <= 0 && !through)); ) {
    const commit = commits.get(prefix);
    if (!commit) throw new HandrailError('INTERNAL', `the commit ${prefix} is missing`);
    const [runSeq, step] = prefix.split('#').slice(-4, -2).map(Number);
    for (let index = commit.messages.length - 1; index >= 0 && !enough(); index--) {
      const message = commit.messages[index];
      if (message) found.push({ runSeq: runSeq ?? 0, step: step ?? 0, index, message });
    }
    prefix = commit.prev;
  }
  return found.reverse();
}

function dueItems(state: MemoryState, kind: DueKind): DueItem[] {
  if (kind === 'run')
    return [...state.runs.values()].flatMap(({ tenant, runId: id, dueAt }): DueItem[] =>
      dueAt === undefined ? [] : [{ kind, key: { tenant, runId: id }, dueAt }],
    );
  return [...state.suspensions.values()].flatMap(({ suspensionId, dueAt }): DueItem[] =>
    dueAt === undefined ? [] : [{ kind, suspensionId, dueAt }],
  );
}

/** Where an item stands in the index. */
const placeOf = (item: DueItem): string => `${String(item.dueAt).padStart(16, '0')}#${item.kind === 'run' ? runId(item.key) : idOf(item)}`;
const idOf = (item: DueItem): string => (item.kind === 'suspension' ? item.suspensionId : '');
const suspensionOf = (state: MemoryState, item: DueItem) => [state.suspensions.get(idOf(item)), idOf(item)] as const;

function within<T>(maps: Map<string, Map<string, T>>, key: string): Map<string, T> {
  const there = maps.get(key) ?? new Map<string, T>();
  maps.set(key, there);
  return there;
}
