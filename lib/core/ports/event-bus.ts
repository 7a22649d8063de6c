import type { PlacedEvent } from '../loop/event.ts';
import type { Run } from '../loop/run.ts';

/** Systems that listen to what runs do. They never fail a run: what could not be sent is in the event log all the same. */
export interface EventBus {
  publish(run: Pick<Run, 'tenant' | 'runId'> & { readonly sessionId: string }, events: readonly PlacedEvent[]): Promise<void>;
}
