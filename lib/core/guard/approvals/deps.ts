import type { Clock } from '../../ports/clock.ts';
import type { Engine } from '../../ports/engine.ts';
import type { GuardStore } from '../../ports/guard-store.ts';
import type { Logger } from '../../ports/logger.ts';
import type { RunStore } from '../../ports/run-store.ts';
import type { Announcer } from './notify.ts';

/** What the use cases around a suspension need from outside. */
export interface ApprovalDeps {
  readonly runs: Pick<RunStore, 'getRun' | 'write'>;
  readonly guard: Pick<GuardStore, 'getSuspension' | 'changeSuspension'>;
  readonly engine: Pick<Engine, 'sendTaskSuccess' | 'status'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly logger: Logger;
  /** Absent: people look for themselves. */
  readonly announcer?: Announcer | undefined;
}

/** ms after which sweep tries again to deliver. */
export const REDELIVER_MS = 30_000;
/** Tries of a conditional change against others that change the same suspension. */
export const CHANGE_ATTEMPTS = 8;
