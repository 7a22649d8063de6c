import type { Transition } from '../../lib/adapters/engine/embedded.ts';
import { STATES } from '../../lib/core/machine/loop.ts';

/** What AWS bills: every state entered and every retry (Step Functions pricing). */
export function countTransitions(transitions: readonly Transition[], execution?: string): number {
  return transitions.filter((transition) => execution === undefined || transition.execution === execution).length;
}

/** From each Reason to the next, that one included (design 3.1, "Transitions"). */
export function transitionsPerPass(transitions: readonly Transition[]): number[] {
  const passes: number[] = [];
  let since: number | undefined;
  for (const { state, kind } of transitions) {
    if (since !== undefined) since++;
    if (state !== STATES.reason || kind !== 'entered') continue;
    if (since !== undefined) passes.push(since);
    since = 0;
  }
  return passes;
}
