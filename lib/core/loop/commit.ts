import type { CommitOutcome, MessageWrite } from '../ports/run-store.ts';
import { fitEvents, placeEvents } from './event-size.ts';
import { keyOf, messagePrefix } from './keys.ts';
import { flightMs } from './permits.ts';
import { isTerminal } from './run-status.ts';
import { activeMs, runConstraints, type Step, topFrame } from './step.ts';
import { valueWrites } from './stored-value.ts';

/** sweep looks at a run that has not moved for this long beyond what its plan may take, ms. */
const STALE_MS = 5 * 60_000;
/** How often sweep asks whether the execution of a suspended run still lives, ms. */
export const SUSPENDED_CHECK_MS = 60 * 60_000;

/**
 * Writes the messages of this step, then commits: one conditional update of the run (design 3.2, "The commit").
 * The loser's messages stay off every chain and are never read.
 */
export async function commitStep(step: Step): Promise<CommitOutcome> {
  const { run, before, deps } = step;
  const now = deps.clock.now();
  const writes: MessageWrite[] = [];
  for (const frame of [...step.ended, ...run.frames]) {
    const messages = step.said.get(frame.namespace);
    if (!messages || messages.length === 0) continue;
    const prefix = messagePrefix(frame, run);
    writes.push({ prefix, prev: frame.head, messages });
    frame.head = prefix;
  }
  writes.push(...valueWrites(run, step.values));
  run.activeMs = activeMs(step);
  run.updatedAt = now;
  run.events = fitEvents(run.events);
  if (isTerminal(run) || run.plan?.next === 'suspend') delete run.deadline;
  else run.deadline = now + Math.max(0, runConstraints(run).timeout - run.activeMs);
  if (isTerminal(run)) delete run.dueAt;
  else run.dueAt = now + patience(step);
  // Events of the commit before this one rode in it and become items of their own now.
  await deps.runs.write(keyOf(run), run.sessionId, writes, placeEvents(before));
  return deps.runs.commit(run, { step: before.step, execution: before.execution, finish: isTerminal(run) });
}

/** ms after which a run with this plan should have moved. */
function patience(step: Step): number {
  const { plan } = step.run;
  switch (plan?.next) {
    case 'act':
      return (
        STALE_MS +
        Math.max(...(topFrame(step.run).batch?.calls ?? []).filter((call) => call.state === 'inflight').map((call) => flightMs(step, call)))
      );
    case 'suspend':
      return SUSPENDED_CHECK_MS;
    case 'wait':
      return STALE_MS + plan.seconds * 1000;
    default:
      return STALE_MS;
  }
}
