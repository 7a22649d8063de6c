import { AsyncLocalStorage } from 'node:async_hooks';
import type { RequestAbout } from '../api/about.ts';
import type { AuditEntry } from '../api/audit.ts';
import { resolvedEvents } from '../core/guard/approvals/resolved.ts';
import type { Suspension } from '../core/guard/approvals/suspension.ts';
import type { Json } from '../core/json.ts';
import type { Measure } from '../core/loop/metrics.ts';
import type { Run } from '../core/loop/run.ts';
import { isTerminal } from '../core/loop/run-status.ts';
import type { GuardStore } from '../core/ports/guard-store.ts';
import type { Logger } from '../core/ports/logger.ts';
import type { RunStore } from '../core/ports/run-store.ts';
import { emfLines } from './emf.ts';
import { eventFields } from './event-fields.ts';
import { jsonLogger, type LogLevel } from './logger.ts';
import { observedGuard, observedRuns } from './observed-stores.ts';

export interface ObservationOptions {
  /** Name of the deployment, a dimension of every metric. */
  readonly deployment: string;
  readonly level: LogLevel;
  /** Log previews of arguments, results and answers, and what tools write and errors say. */
  readonly text: boolean;
  /** Takes a line without its end. */
  write(line: string): void;
  /** ms since 1970. */
  now(): number;
  /** Id of the trace that this invocation belongs to. */
  trace(): string | undefined;
}

/** What one function tells of what it does: lines that carry run, session, tenant and step, and metrics in lines. */
export interface Observation {
  readonly logger: Logger;
  /** Text is switched on. */
  readonly text: boolean;
  /** For one of many things that an invocation works on, beside the others: lines written in it are about that one alone. */
  apart(work: () => Promise<void>): Promise<void>;
  /** Forgets the run of the invocation before. A Lambda environment serves one at a time. */
  begin(fields?: Readonly<Record<string, string | number>>): void;
  /** More fields of this invocation's lines. */
  about(fields: RequestAbout): void;
  /** A line `audit`, whatever the level is. */
  audit(entry: AuditEntry): void;
  runs(store: RunStore): RunStore;
  guard(store: GuardStore): GuardStore;
  measure(measures: readonly Measure[]): void;
}

/** What lines are about: run, session, tenant, step. */
interface Subject {
  about: Readonly<Record<string, string | number>>;
}

export function createObservation(options: ObservationOptions): Observation {
  const whole: Subject = { about: {} };
  const parts = new AsyncLocalStorage<Subject>();
  const subject = (): Subject => parts.getStore() ?? whole;
  const always = (): Record<string, Json> => {
    const { about } = subject();
    const trace = options.trace();
    return trace === undefined ? about : { ...about, trace };
  };
  const logger = jsonLogger({ ...options, always });
  const unfiltered = jsonLogger({ ...options, level: 'info', always });
  const measured = (measures: readonly Measure[]): void => {
    if (measures.length === 0) return;
    const { deployment } = options;
    for (const line of emfLines(measures, { deployment, at: options.now(), fields: subject().about })) options.write(line);
  };
  const observer = {
    began: (run: Run) => {
      subject().about = { ...idsOf(run), step: run.step + 1 };
    },
    measured,
    happened: (run: Run, events: Run['events']) => {
      subject().about = { ...idsOf(run), step: run.step };
      for (const event of events) logger.info(event.type, eventFields(event, options.text));
      if (isTerminal(run)) logger.info('run.summary', summaryOf(run));
    },
    resolved: (suspension: Suspension, callIds: readonly string[]) => {
      for (const event of resolvedEvents(suspension))
        if (callIds.some((callId) => event.data['callId'] === callId))
          logger.info(event.type, { ...idsOf(suspension), step: event.step, ...eventFields(event, options.text) });
    },
  };
  return {
    logger,
    text: options.text,
    apart: (work) => parts.run({ about: {} }, work),
    begin: (fields = {}) => {
      whole.about = fields;
    },
    about: (fields) => {
      whole.about = { ...whole.about, ...fields };
    },
    audit: (entry) => unfiltered.info('audit', { ...entry }),
    runs: (store) => observedRuns(store, observer),
    guard: (store) => observedGuard(store, observer),
    measure: measured,
  };
}

const idsOf = ({ runId, sessionId, tenant }: Pick<Run, 'runId' | 'sessionId' | 'tenant'>) => ({ run: runId, session: sessionId, tenant });

/** One line per run with what an operator asks for first. */
function summaryOf(run: Run): Record<string, Json> {
  const { modelMs, guardMs, queueMs, toolMs, personMs } = run.timings;
  return {
    agent: run.agent,
    outcome: run.outcome ?? 'error',
    ...(run.error === undefined ? {} : { code: run.error.code }),
    activeMs: run.activeMs,
    totalMs: (run.endedAt ?? run.updatedAt) - run.createdAt,
    ...{ modelMs, guardMs, queueMs, toolMs, personMs },
    promptTokens: run.usage.promptTokens,
    completionTokens: run.usage.completionTokens,
    costUsd: run.usage.costUsd,
  };
}
