import type { Suspension } from '../guard/approvals/suspension.ts';
import type { LivePolicy } from '../guard/policy.ts';
import type { Permits } from '../hands/permits-item.ts';
import type { RunKey } from '../ids.ts';
import type { PlacedEvent } from '../loop/event.ts';
import type { Message, PlacedMessage } from '../loop/message.ts';
import type { Run } from '../loop/run.ts';
import type { RunStatus } from '../loop/run-status.ts';
import type { Session } from '../loop/session.ts';

/** Everything a step starts from: one consistent BatchGetItem (design 3.2.1). */
export interface StepInputs {
  readonly run: Run | undefined;
  /** Deployment-wide policy and the tenant's. */
  readonly policies: readonly LivePolicy[];
  readonly permits: Permits;
  readonly suspension: Suspension | undefined;
}

/** Messages of one commit of one frame. `prefix` = `MSG#<frame>#<runSeq>#<step>#<attempt>#`; `prev` = the one before. */
export interface MessageWrite {
  readonly prefix: string;
  readonly prev: string | undefined;
  readonly messages: readonly Message[];
}

export interface CommitCondition {
  /** The run must stand at this step … */
  readonly step: number;
  /** … in this execution … */
  readonly execution: number;
  /** … and, unless this is the finish commit, not be asked to cancel. */
  readonly finish: boolean;
}

export type CommitOutcome = { committed: true } | { committed: false; run: Run | undefined };

export interface Page<T> {
  readonly items: readonly T[];
  readonly cursor: string | undefined;
}

export interface SessionKey {
  readonly tenant: string;
  readonly sessionId: string;
}

export type DueKind = 'run' | 'suspension';

/** What sweep must look at: a run or a suspension whose `dueAt` has passed, or an item of theirs with a key that this version cannot read. */
export type DueItem =
  | { kind: 'run'; key: RunKey; dueAt: number }
  | { kind: 'suspension'; suspensionId: string; dueAt: number }
  | { kind: 'unreadable'; of: DueKind; pk: string; sk: string; dueAt: number };

/** Delays of an item at which sweep fails: the first, doubled at each further failure in a row, at most the last. */
export interface Deferral {
  readonly firstMs: number;
  readonly mostMs: number;
}

/** The sessions table. Reads are consistent unless they say otherwise; every item is parsed by its schema. */
export interface RunStore {
  loadStep(key: RunKey, suspensionId: string): Promise<StepInputs>;
  getRun(key: RunKey): Promise<Run | undefined>;
  /** Puts the run if no item has its key. The item that stands afterwards: this one or the earlier one. */
  createRun(run: Run): Promise<{ created: boolean; run: Run }>;
  /** Deletes a run that is still `starting`. */
  deleteStarting(key: RunKey): Promise<void>;
  /** `starting` → `running` with the session's number and head; false when it is no longer `starting`. */
  markRunning(run: Run): Promise<boolean>;
  getSession(key: SessionKey): Promise<Session | undefined>;
  /** Writes the session if its `activeRun` is still `expected` (undefined = no item, or none active). */
  swapSession(session: Session, expected: string | undefined): Promise<boolean>;
  /** BatchWriteItem: messages and events in as few requests as they fit, unprocessed ones retried. Keys are final, so repeating is harmless. */
  write(key: RunKey, sessionId: string, messages: readonly MessageWrite[], events: readonly PlacedEvent[]): Promise<void>;
  /** One conditional UpdateItem of the run's progress (design 3.2, "The commit"). */
  commit(run: Run, condition: CommitCondition): Promise<CommitOutcome>;
  /** Sets `cancelRequestedAt` and `cancelRequestedBy` on a run that is running or waiting and has neither; the run as it then stands. */
  requestCancel(key: RunKey, at: number, by: string): Promise<Run | undefined>;
  /** Moves `dueAt` if the run still has this step. */
  postponeRun(key: RunKey, step: number, dueAt: number): Promise<void>;
  /**
   * Messages of a frame from `head` backwards along `prev`, oldest first: at least `atLeast` of them (all, if there
   * are fewer), and back to the assistant message of `through` when given. Messages of lost commits are dropped.
   */
  readTranscript(
    key: SessionKey,
    head: string | undefined,
    atLeast: number,
    through?: { runSeq: number; step: number },
  ): Promise<PlacedMessage[]>;
  /**
   * Every commit of messages that a run of the session wrote, in all frames, by key: those of attempts that lost as well
   * (`wonCommits` tells them apart), save what a crash left incomplete. For audit: reads the whole session.
   */
  listCommits(key: SessionKey, runSeq: number): Promise<MessageWrite[]>;
  /** Deletes a run and its events, the run last: repeated, it goes on. */
  eraseRun(key: RunKey): Promise<void>;
  /** Deletes a session and its messages, the session last. */
  eraseSession(key: SessionKey): Promise<void>;
  /** Events from step `after` on, in order of key, those of the last commit included. */
  readEvents(key: RunKey, after: number): Promise<PlacedEvent[]>;
  /** By tenant, newest first (eventually consistent). */
  listRuns(tenant: string, query: { limit: number; cursor?: string; status?: RunStatus; sessionId?: string }): Promise<Page<Run>>;
  /** From the sparse `due` index of a kind's table, soonest first (eventually consistent). */
  due(kind: DueKind, now: number, page: { limit: number; cursor?: string }): Promise<Page<DueItem>>;
  /**
   * Puts off an item that has not moved since it was listed, whether or not it can be read. The delay; 0 when it has
   * moved. Failures count as in a row while nothing else moves the item.
   */
  deferDue(item: DueItem, now: number, delays: Deferral): Promise<number>;
}
