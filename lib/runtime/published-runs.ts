import { EVENT_RANK, eventKey } from '../core/loop/event.ts';
import type { EventBus } from '../core/ports/event-bus.ts';
import type { RunStore } from '../core/ports/run-store.ts';

const OF_COMMIT = new RegExp(`^EVT#\\d{6}#${EVENT_RANK.reason}#`);

/**
 * A run store that tells a bus of every event once it is stored: those of a commit when it was made, the others when they
 * were written. Those that a commit carried are written once more by the next one, and not told again.
 */
export function publishedRuns(runs: RunStore, bus: EventBus): RunStore {
  return {
    ...runs,
    async commit(run, condition) {
      const outcome = await runs.commit(run, condition);
      const events = run.events.map((event, n) => ({ ...event, step: run.step, key: eventKey(run.step, 'reason', n) }));
      if (outcome.committed && events.length > 0) await bus.publish(run, events);
      return outcome;
    },
    async write(key, sessionId, messages, events) {
      await runs.write(key, sessionId, messages, events);
      const own = events.filter((event) => !OF_COMMIT.test(event.key));
      if (own.length > 0) await bus.publish({ ...key, sessionId }, own);
    },
  };
}
