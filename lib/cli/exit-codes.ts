import type { RunView } from '../api/views/run-view.ts';
import { unreachable } from '../core/errors.ts';

/** What the shell is told, once; docs/cli.md lists the same. */
export const EXIT = {
  ok: 0,
  /** The run failed, or the command did. */
  failed: 1,
  /** The command line or the environment is wrong. */
  usage: 2,
  /** The run stopped at one of its limits. */
  limited: 3,
  cancelled: 4,
  /** The run waits for a person. */
  waiting: 5,
  interrupted: 130,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The code for a run as it stands. One that is still at work is no failure. */
export function exitCodeOf(status: RunView['status']): ExitCode {
  switch (status) {
    case 'succeeded':
    case 'running':
      return EXIT.ok;
    case 'failed':
      return EXIT.failed;
    case 'limited':
      return EXIT.limited;
    case 'cancelled':
      return EXIT.cancelled;
    case 'waiting':
      return EXIT.waiting;
    default:
      return unreachable(status);
  }
}
