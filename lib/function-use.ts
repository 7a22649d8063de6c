import type { StoreUse } from './adapters/stores/dynamodb/table-use.ts';
import type { Engine } from './core/ports/engine.ts';

/** What a function calls of the stores and of the engine. Its rights follow from it, and it is given nothing else. */
export interface FunctionUse {
  readonly stores: StoreUse;
  readonly engine: readonly (keyof Engine)[];
}

/** Ends a run's step by itself or on behalf of a closed execution. */
const STEP = ['loadStep', 'readTranscript', 'write', 'commit'] as const;
const PERMITS = ['getPermits', 'putPermits'] as const;
const APPROVALS = ['getSuspension', 'changeSuspension'] as const;
/** Hands in a run that was stored. */
const START = ['getRun', 'getSession', 'swapSession', 'markRunning', 'deleteStarting'] as const;
/** Wakes a run, and asks whether the execution of a token that is gone is over. */
const WAKE = ['status', 'sendTaskSuccess'] as const;

/** Of the functions that are not tools. A test records what they call and compares. */
export const FUNCTION_USE = {
  reason: {
    stores: { runs: [...STEP, 'getSession'], guard: [...PERMITS, 'getPolicies', 'openSuspension', ...APPROVALS] },
    engine: [],
  },
  suspend: { stores: { runs: ['getRun', 'write'], guard: ['changeSuspension'] }, engine: WAKE },
  // A token that is gone needs no further question there: the run has just been ended.
  settle: { stores: { runs: ['getRun', ...STEP], guard: [...APPROVALS, ...PERMITS] }, engine: ['sendTaskSuccess'] },
  sweep: {
    stores: {
      runs: ['due', 'deferDue', 'postponeRun', ...START, ...STEP],
      guard: [...APPROVALS, ...PERMITS],
      ages: ['oldestPendingMs'],
    },
    engine: ['start', ...WAKE],
  },
  api: {
    stores: {
      runs: [
        'createRun',
        ...START,
        'listRuns',
        'readEvents',
        'listCommits',
        'readTranscript',
        'requestCancel',
        'write',
        'eraseRun',
        'eraseSession',
      ],
      guard: [...APPROVALS, 'listSuspensions', 'eraseSuspension', 'getPolicy', 'putPolicy', 'keepPolicy', 'listKeptPolicies'],
      links: ['readLinks', 'countTry'],
    },
    engine: ['start', ...WAKE],
  },
} as const satisfies Record<string, FunctionUse>;
export type CoreFunctionName = keyof typeof FUNCTION_USE;
