import type { StateMachine } from 'aws-local-stepfunctions';

/** What the library reports about an execution while it runs. */
export type EngineEvent = ReturnType<StateMachine['run']>['eventLogs'] extends AsyncGenerator<infer Event> ? Event : never;

/**
 * How many events the same step would add to the history on AWS, other than those of Task attempts, which only the
 * task itself can count (`core/machine/history.ts` lists the types).
 */
export function historyEventsOf(event: EngineEvent): number {
  switch (event.type) {
    case 'StateEntered':
    case 'StateExited':
      // MapStateStarted and MapStateSucceeded go with entering and leaving.
      return event.state.type === 'Map' ? 2 : 1;
    case 'StateRetried':
    case 'StateCaught':
    case 'StateFailed':
      return 0;
    default:
      return 1;
  }
}
