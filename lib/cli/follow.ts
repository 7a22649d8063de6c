import type { RunView } from '../api/views/run-view.ts';
import { TERMINAL } from '../core/loop/run-status.ts';
import type { ApiClient, ShownEvent } from './client.ts';
import { duration } from './display-text.ts';
import { eventLine, isRoutine } from './event-line.ts';
import { Interrupted } from './failure.ts';
import { pauseOr } from './interrupt.ts';
import type { Screen } from './screen.ts';

/** ms between two looks at the log: the first while things happen, the last after a while without news. */
export interface Pace {
  readonly first: number;
  readonly last: number;
}
/** A look costs the server of a laptop a millisecond, and a deployed one money. */
export const PACE: Readonly<Record<'own' | 'running' | 'deployed', Pace>> = {
  own: { first: 50, last: 500 },
  running: { first: 50, last: 500 },
  deployed: { first: 300, last: 2_000 },
};

export interface FollowOptions {
  readonly client: ApiClient;
  readonly runId: string;
  readonly screen: Screen;
  readonly signal: AbortSignal;
  readonly pace: Pace;
  /** Step whose events, and all later ones, are shown. @default all */
  readonly after?: number;
  /** The run waits for these. `leave` ends the following. */
  onApprovals(run: RunView): Promise<'decided' | 'leave'>;
  /** What becomes of the run when Ctrl-C ends the following. */
  readonly onInterrupt: string;
}

/**
 * Shows the events of a run as they come, one line each, until it ends or waits for a person who is not here. On a
 * terminal the calls at work are named with their time on the last line. Errors: Interrupted.
 */
export async function followRun(options: FollowOptions): Promise<RunView> {
  const { client, runId, screen, signal, pace } = options;
  const calls = new CallsAtWork();
  const seen = new Set<string>();
  let after = options.after ?? 0;
  let wait = pace.first;
  screen.status(() => calls.describe());
  try {
    for (;;) {
      const page = await client.listEvents(runId, after);
      const fresh = page.events.filter(({ key }) => !seen.has(key));
      for (const event of fresh) {
        seen.add(event.key);
        calls.note(event);
        if (shows(event, screen)) screen.line(eventLine(event, screen.style));
      }
      after = page.next;
      if (page.more) continue;
      if (TERMINAL.includes(page.status)) return await client.getRun(runId);
      if (page.status === 'waiting') {
        const run = await client.getRun(runId);
        if (run.approvals.length > 0) {
          screen.status(undefined);
          if ((await options.onApprovals(run)) === 'leave') return run;
          screen.status(() => calls.describe());
        }
      }
      wait = fresh.length > 0 ? pace.first : Math.min(pace.last, wait * 1.5);
      if (await pauseOr(wait, signal)) throw new Interrupted(options.onInterrupt);
    }
  } finally {
    screen.status(undefined);
  }
}

/** On a terminal the last line shows how long a call takes. */
const shows = (event: ShownEvent, screen: Screen): boolean =>
  !isRoutine(event) && !(screen.terminal && event.type === 'tool.call.progress');

class CallsAtWork {
  readonly #calls = new Map<string, { tool: string; since: number }>();

  note({ type, data }: ShownEvent): void {
    const { callId, tool } = data;
    if (typeof callId !== 'string' || typeof tool !== 'string') return;
    if (type === 'tool.call.started') this.#calls.set(callId, { tool, since: Date.now() });
    if (type === 'tool.call.completed' || type === 'tool.call.failed') this.#calls.delete(callId);
  }

  describe(): string {
    const now = Date.now();
    const calls = [...this.#calls.values()].map(({ tool, since }) => `${tool} ${duration(Math.max(0, now - since))}`);
    return calls.length === 0 ? 'thinking' : calls.join(', ');
  }
}
