import { HandrailError, unreachable } from '../errors.ts';
import { sweepSuspension, type Untold } from '../guard/approvals/expire.ts';
import { notify } from '../guard/approvals/notify.ts';
import type { RunKey } from '../ids.ts';
import type { Deferral, DueItem, DueKind } from '../ports/run-store.ts';
import { wakeCancelled } from './cancel.ts';
import { SUSPENDED_CHECK_MS } from './commit.ts';
import type { LoopDeps } from './deps.ts';
import { currentExecution, keyOf } from './keys.ts';
import type { Run } from './run.ts';
import { isTerminal } from './run-status.ts';
import { settleRun } from './settle.ts';
import { startStored } from './start.ts';

const PAGE = 100;
/** Items of one kind that are looked at at once. */
const WIDTH = 8;
/** A run that could not take its session is withdrawn this long after it was asked for, ms. */
const START_LIMIT_MS = 2 * 60_000;
/** ms until a run that is seen to be alive is looked at again; one that waits for people is, like its commit said, after an hour. */
const RECHECK_MS = 5 * 60_000;
/** An item that fails is tried again after these. */
const RETRY: Deferral = { firstMs: 60_000, mostMs: 15 * 60_000 };
/** Delay from which on an item counts as stuck: that of its fourth failure in a row. */
const STUCK_MS = 8 * 60_000;
/** ms that people may be told longer than items are begun: the last notice takes some 11 s where a webhook does not answer. */
const NOTICES_MS = 5_000;

export interface SweepOptions {
  /** ms since 1970 after which nothing more is begun; the next pass goes on. @default never */
  readonly until?: number;
  /** Runs looked at in a second at most: each asks the engine, whose quota others need too. @default as many as there are */
  readonly runsPerSecond?: number;
  /** Carries out the work on one item, so that whoever writes logs can tell one from the other. */
  readonly apart?: (work: () => Promise<void>) => Promise<void>;
}

export interface SweepReport {
  /** Looked at without a failure. */
  readonly runs: number;
  readonly suspensions: number;
  readonly failed: number;
  /** Of the failed, those that failed four times in a row or more. */
  readonly stuck: number;
  /** ms for which the oldest of those that this pass did not come to has been due; 0 = it came to all. */
  readonly behindMs: number;
}

interface Pass {
  readonly deps: LoopDeps;
  readonly options: SweepOptions;
  readonly report: { -readonly [Key in keyof SweepReport]: SweepReport[Key] };
  readonly untold: Untold[];
}

const begin = (deps: LoopDeps, options: SweepOptions = {}): Pass => ({
  deps,
  options,
  report: { runs: 0, suspensions: 0, failed: 0, stuck: 0, behindMs: 0 },
  untold: [],
});

/**
 * Settles everything that nobody else will (design sections 4, 5.3, 9): undelivered decisions, approvals that expire,
 * runs that never started, runs whose execution is gone. Runs and suspensions go beside each other, so neither keeps the
 * other waiting, and an item that fails is put off, so that it never stands before the others.
 */
export async function sweep(deps: LoopDeps, options?: SweepOptions): Promise<SweepReport> {
  const pass = begin(deps, options);
  const kinds = await Promise.allSettled([sweepDue(pass, 'suspension'), sweepDue(pass, 'run')]);
  await tellPeople(pass);
  for (const kind of kinds) if (kind.status === 'rejected') throw kind.reason;
  return pass.report;
}

/**
 * After the embedded engine was stopped: starts the execution of every run that has not ended again, at its committed
 * step (design section 10, "Restart").
 */
export async function recoverAll(deps: LoopDeps): Promise<SweepReport> {
  const pass = begin(deps);
  for (const kind of ['run', 'suspension'] as const) {
    // All are named before the first is moved: those that are would come again.
    const pages: DueItem[][] = [];
    await eachPage(pass, kind, Number.MAX_SAFE_INTEGER, async (items) => pages.push([...items]) > 0);
    await sweepItems(pass, pages.flat());
  }
  await tellPeople(pass);
  return pass.report;
}

/** What is due when the pass begins; what it puts off is due later than that. */
async function sweepDue(pass: Pass, kind: DueKind): Promise<void> {
  await eachPage(pass, kind, pass.deps.clock.now(), (items) => sweepItems(pass, items));
}

/** `take` says whether to go on. */
async function eachPage(pass: Pass, kind: DueKind, now: number, take: (items: readonly DueItem[]) => Promise<boolean>): Promise<void> {
  let cursor: string | undefined;
  do {
    const page = await pass.deps.runs.due(kind, now, { limit: PAGE, ...(cursor === undefined ? {} : { cursor }) });
    cursor = (await take(page.items)) ? page.cursor : undefined;
  } while (cursor !== undefined);
}

const isOver = ({ deps, options: { until } }: Pass): boolean => until !== undefined && deps.clock.now() >= until;

/** Whether there was time for all of them. */
async function sweepItems(pass: Pass, items: readonly DueItem[]): Promise<boolean> {
  const { deps, options, report } = pass;
  const { apart = (work) => work(), runsPerSecond } = options;
  // One iterator for all: each worker takes the next.
  const queue = items.values();
  const worker = async (): Promise<boolean> => {
    for (const item of queue) {
      if (isOver(pass)) {
        report.behindMs = Math.max(report.behindMs, deps.clock.now() - item.dueAt);
        return false;
      }
      const pause = item.kind === 'run' && runsPerSecond !== undefined ? deps.clock.sleep((WIDTH * 1000) / runsPerSecond) : undefined;
      await Promise.all([apart(() => sweepItem(pass, item)), pause]);
    }
    return true;
  };
  return (await Promise.all(Array.from({ length: WIDTH }, worker))).every(Boolean);
}

async function sweepItem({ deps, report, untold }: Pass, item: DueItem): Promise<void> {
  try {
    switch (item.kind) {
      case 'run':
        await sweepRun(deps, item.key);
        report.runs += 1;
        return;
      case 'suspension':
        untold.push(...[await sweepSuspension(deps, item.suspensionId)].filter((found) => found !== undefined));
        report.suspensions += 1;
        return;
      case 'unreadable':
        throw new HandrailError('INTERNAL', 'the index names an item whose key this version cannot read');
      default:
        unreachable(item);
    }
  } catch (error) {
    report.failed += 1;
    deps.logger.error('sweep could not settle an item; it is tried again later', error, namesOf(item));
    if ((await putOff(deps, item)) >= STUCK_MS) report.stuck += 1;
  }
}

/** Should even this fail, the item stays where it is; the pass goes on behind it all the same. */
async function putOff(deps: LoopDeps, item: DueItem): Promise<number> {
  try {
    return await deps.runs.deferDue(item, deps.clock.now(), RETRY);
  } catch (error) {
    deps.logger.error('sweep could not put off an item', error, namesOf(item));
    return 0;
  }
}

function namesOf(item: DueItem): Record<string, string> {
  switch (item.kind) {
    case 'run':
      return { kind: item.kind, ...item.key };
    case 'suspension':
      return { kind: item.kind, suspensionId: item.suspensionId };
    case 'unreadable':
      return { kind: item.kind, pk: item.pk, sk: item.sk };
    default:
      return unreachable(item);
  }
}

/** Last, and no more after one that failed: a channel that does not answer must not keep anything else waiting. */
async function tellPeople({ deps, options: { until }, untold }: Pass): Promise<void> {
  for (const { suspension, run } of untold) {
    if (until !== undefined && deps.clock.now() >= until + NOTICES_MS) return;
    if (!(await notify(deps, suspension, run))) return;
  }
}

async function sweepRun(deps: LoopDeps, key: RunKey): Promise<void> {
  const run = await deps.runs.getRun(key);
  if (!run || isTerminal(run)) return;
  if (run.status === 'starting') return sweepStarting(deps, run);
  const name = currentExecution(run);
  switch (await deps.engine.status(name)) {
    case 'running':
      if (run.cancelRequestedAt !== undefined) await wakeCancelled(deps, run, 'sweep');
      return deps.runs.postponeRun(keyOf(run), run.step, deps.clock.now() + (isAtRest(run) ? SUSPENDED_CHECK_MS : RECHECK_MS));
    case 'closed':
      await settleRun(deps, keyOf(run), name, 'the execution ended without ending the run');
      return;
    case 'absent':
      // Never started (the first one, or one that was to continue), or the embedded engine was stopped.
      await deps.engine.start(name, { ctx: { ...keyOf(run), step: run.step }, ...(run.step > 0 ? { recover: true } : {}) });
      return deps.runs.postponeRun(keyOf(run), run.step, deps.clock.now() + RECHECK_MS);
  }
}

/** Nothing is to happen before people decide. */
const isAtRest = ({ plan, cancelRequestedAt }: Run): boolean => plan?.next === 'suspend' && cancelRequestedAt === undefined;

async function sweepStarting(deps: LoopDeps, run: Run): Promise<void> {
  try {
    await startStored(deps, run);
  } catch (error) {
    if (!(error instanceof HandrailError && error.code === 'SESSION_BUSY')) throw error;
    if (deps.clock.now() - run.createdAt > START_LIMIT_MS) await deps.runs.deleteStarting(keyOf(run));
  }
}
