import { HandrailError } from '../errors.ts';
import { runIdFrom } from '../ids.ts';
import type { Clock, Random } from '../ports/clock.ts';
import type { GuardStore } from '../ports/guard-store.ts';
import type { RunStore, SessionKey } from '../ports/run-store.ts';
import type { SessionFiles } from '../ports/session-files.ts';
import { suspensionIdsOf } from './export-run.ts';
import { keyOf } from './keys.ts';
import type { Run } from './run.ts';
import { isTerminal } from './run-status.ts';
import { recentRunsOf, type Session } from './session.ts';

const LOCK_ATTEMPTS = 5;
const PAGE = 100;

export interface DeleteSessionDeps {
  readonly runs: RunStore;
  readonly guard: Pick<GuardStore, 'eraseSuspension'>;
  readonly files: Pick<SessionFiles, 'erase'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly random: Pick<Random, 'bytes'>;
}

/**
 * Deletes a session and all it left: messages, runs, events, suspensions, files. Memory belongs to the tenant and stays.
 * From its first write no run can take the session any more. What a crash leaves, the same call goes on with. `announce` is
 * told which runs go before any of it does: afterwards nothing is left to tell it from.
 * Errors: NOT_FOUND, SESSION_BUSY with `runId` while a run is active.
 */
export async function deleteSession(
  deps: DeleteSessionDeps,
  key: SessionKey,
  announce: (runs: readonly string[]) => void = () => {},
): Promise<void> {
  const session = await lock(deps, key);
  const runs = session ? await runsOf(deps.runs, session) : [];
  announce(runs.map(({ runId }) => runId));
  if (!session) {
    // Files may have been put there before the first run.
    if (await deps.files.erase(key)) return;
    throw new HandrailError('NOT_FOUND', `there is no session ${key.sessionId}`);
  }
  for (const run of runs) await eraseRun(deps, run);
  await deps.files.erase(key);
  await deps.runs.eraseSession(key);
}

/** Puts the mark on the session, and an id that no run has in the place of the lock: a start that read it earlier finds it taken. */
async function lock({ runs, clock, random }: DeleteSessionDeps, key: SessionKey): Promise<Session | undefined> {
  for (let attempt = 0; attempt < LOCK_ATTEMPTS; attempt++) {
    const session = await runs.getSession(key);
    if (!session || session.deletingAt !== undefined) return session;
    const holder = session.activeRun === undefined ? undefined : await runs.getRun({ tenant: key.tenant, runId: session.activeRun });
    if (holder && !isTerminal(holder))
      throw new HandrailError('SESSION_BUSY', `session ${key.sessionId} is busy with run ${holder.runId}: cancel it first`, {
        extra: { runId: holder.runId },
      });
    const marked: Session = {
      ...session,
      deletingAt: clock.now(),
      recentRuns: recentRunsOf(session),
      activeRun: runIdFrom(random.bytes(20)),
    };
    if (await runs.swapSession(marked, session.activeRun)) return marked;
  }
  throw new HandrailError('SESSION_BUSY', `session ${key.sessionId} is being taken by runs; try again`);
}

/** The list is a moment behind the table, so the youngest runs are looked for by the session itself. */
async function runsOf(runs: RunStore, session: Session): Promise<Run[]> {
  const { tenant, sessionId } = session;
  const young = await Promise.all(recentRunsOf(session).map((runId) => runs.getRun({ tenant, runId })));
  const found = new Map(young.filter((run) => run !== undefined).map((run) => [run.runId, run]));
  let cursor: string | undefined;
  do {
    const page = await runs.listRuns(tenant, { limit: PAGE, sessionId, ...(cursor === undefined ? {} : { cursor }) });
    for (const run of page.items) found.set(run.runId, run);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return [...found.values()];
}

/** Suspensions first: they are found by the run's events. */
async function eraseRun({ runs, guard }: DeleteSessionDeps, run: Run): Promise<void> {
  const events = await runs.readEvents(keyOf(run), 0);
  for (const id of suspensionIdsOf(run, events)) await guard.eraseSuspension(id);
  await runs.eraseRun(keyOf(run));
}
