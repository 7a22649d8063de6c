import { HandrailError } from '../errors.ts';
import { longestFlightMs, retriesOf } from '../hands/lifecycle.ts';
import { concurrencyLimits, levelsOf, updatePermits } from '../hands/permits.ts';
import { PERMIT_CONFLICTS, QUEUE } from '../limits.ts';
import type { OpenCall } from './frames.ts';
import { leaseKey, waiterKey } from './keys.ts';
import { attemptMs } from './output.ts';
import type { Step } from './step.ts';

/** ms a lease outlives what its call may take, so that only a crashed call loses it early. */
const LEASE_SLACK_MS = 60_000;
const CONFLICT_PAUSE_MS = 25;

export interface PermitOutcome {
  readonly granted: OpenCall[];
  /** Calls that gave up: the queue was full, or they waited too long. */
  readonly refused: { call: OpenCall; error: HandrailError }[];
}

/** ms a call may be in flight at most: every attempt at its timeout, and the pauses between. */
export function flightMs(step: Pick<Step, 'deps' | 'run'>, call: OpenCall): number {
  const definition = step.deps.registry.get(call.tool);
  if (!definition) return LEASE_SLACK_MS;
  return longestFlightMs(attemptMs(step.deps, step.run, definition), retriesOf(definition)) + LEASE_SLACK_MS;
}

/**
 * Gives back what this step observed and takes a permit for each call of `stage`, in one conditional update
 * (design 6.5). Calls that got none wait, if nothing else of the run is dispatched.
 */
export async function takePermits(step: Step, stage: readonly OpenCall[]): Promise<PermitOutcome> {
  const { deps, run } = step;
  let permits = step.inputs.permits;
  for (let conflicts = 0; conflicts <= PERMIT_CONFLICTS; conflicts++) {
    const now = deps.clock.now();
    const want = stage.map((call) => ({
      key: waiterKey(run.runId, call.callId),
      levels: levels(step, call),
      leaseUntil: now + flightMs(step, call),
      since: call.waitingSince,
    }));
    const change = updatePermits(permits, {
      now,
      run: run.runId,
      attempt: run.attempt,
      giveBack: step.giveBack,
      want,
      nextPoll: now + QUEUE.pollSeconds * 1000,
      limits: concurrencyLimits(deps.config.hands.concurrency, deps.registry.getAll()),
    });
    if (!change.changed || (await deps.guard.putPermits(change.next))) return applyChange(step, stage, change, now);
    await deps.clock.sleep(CONFLICT_PAUSE_MS * (1 + conflicts) * deps.random.number());
    permits = await deps.guard.getPermits();
  }
  return waitAll(stage, deps.clock.now());
}

/** Gives back the leases of calls that this step observed and takes nothing. */
export async function returnPermits(step: Step): Promise<void> {
  if (step.giveBack.length > 0) await takePermits(step, []);
}

/** Gives back what an attempt took that lost its commit: nobody else will. */
export async function undoPermits(step: Step): Promise<void> {
  const frame = step.run.frames.at(-1);
  const mine = frame?.batch?.calls.filter((call) => call.state === 'inflight' && call.attempt === step.run.attempt) ?? [];
  if (mine.length === 0) return;
  step.giveBack.splice(0, step.giveBack.length, ...mine.map((call) => leaseKey(step.run.runId, call.callId, step.run.attempt)));
  Object.assign(step.inputs, { permits: await step.deps.guard.getPermits() });
  await takePermits(step, []);
}

/** Whatever its tool is by now, a call counts at the levels of its name and category. */
function levels(step: Step, call: OpenCall): string[] {
  return levelsOf(step.deps.registry.get(call.tool) ?? { name: call.tool, category: call.category });
}

/** However its wait ends, with a permit or without, it is counted as time in the queue (design 9, "ms of queue"). */
export function endWait(step: Pick<Step, 'run'>, call: OpenCall, now: number): void {
  if (call.waitingSince === undefined) return;
  step.run.timings.queueMs += Math.max(0, now - call.waitingSince);
  delete call.waitingSince;
}

function waitAll(stage: readonly OpenCall[], now: number): PermitOutcome {
  for (const call of stage) markWaiting(call, now);
  return { granted: [], refused: [] };
}

function markWaiting(call: OpenCall, now: number): void {
  call.state = 'waiting';
  call.waitingSince ??= now;
}

function applyChange(step: Step, stage: readonly OpenCall[], change: ReturnType<typeof updatePermits>, now: number): PermitOutcome {
  const outcome: PermitOutcome = { granted: [], refused: [] };
  for (const call of stage) {
    const key = waiterKey(step.run.runId, call.callId);
    if (change.granted.includes(key)) outcome.granted.push(call);
    else if (change.full.includes(key))
      outcome.refused.push({
        call,
        error: new HandrailError('QUEUE_FULL', `${QUEUE.depth} calls are waiting already; ${call.tool} did not run`),
      });
    else if (change.timedOut.includes(key))
      outcome.refused.push({
        call,
        error: new HandrailError('QUEUE_TIMEOUT', `${call.tool} waited over ${QUEUE.waitMs / 1000} s for a free place and did not run`),
      });
    else if (change.waiting.includes(key)) markWaiting(call, now);
    else {
      // Its turn comes after the calls that are dispatched now; until then it does not wait.
      call.state = 'ready';
      endWait(step, call, now);
    }
  }
  step.giveBack.length = 0;
  return outcome;
}
