import { QUEUE } from '../limits.ts';
import type { ToolDefinition } from './define-tool.ts';
import type { Lease, Permits, Waiter } from './permits-item.ts';

/** A call that wants to be dispatched. */
interface WantedPermit {
  /** `<runId>#<callId>` */
  readonly key: string;
  /** From `levelsOf`. */
  readonly levels: readonly string[];
  /** ms since 1970 by which the call has surely ended, retries and pauses included. */
  readonly leaseUntil: number;
  /** ms since 1970 when it first began to wait, if it has: keeps its place and its 30 s when it fell out of the queue. */
  readonly since?: number | undefined;
}

export interface PermitRequest {
  /** ms since 1970. */
  readonly now: number;
  readonly run: string;
  /** Of this invocation of `reason`: part of the lease keys it takes. */
  readonly attempt: string;
  /** Lease keys `<runId>#<callId>#<attempt>` of calls that have ended. */
  readonly giveBack: readonly string[];
  readonly want: readonly WantedPermit[];
  /** ms since 1970 when the run asks again should it have to wait. */
  readonly nextPoll: number;
  /** True when the run dispatches something in this step whatever is granted here: then nothing of it enters the queue. */
  readonly dispatching?: boolean;
  /** Units of a level; a level that is absent has no limit. From `concurrencyLimits`. */
  readonly limits: ReadonlyMap<string, number>;
}

/** Keys are those of the request's `want`, in its order; each is in exactly one list. */
export interface PermitOutcome {
  readonly next: Permits;
  /** False: nothing to write. */
  readonly changed: boolean;
  /** Leases taken: dispatch these calls. */
  readonly granted: readonly string[];
  /** In the queue: the run goes to `Wait`. */
  readonly waiting: readonly string[];
  /** Not now, since the run dispatches other calls first: ask again after those. */
  readonly later: readonly string[];
  /** Answer QUEUE_FULL. */
  readonly full: readonly string[];
  /** Answer QUEUE_TIMEOUT. */
  readonly timedOut: readonly string[];
}

/**
 * One change of the permits item, pure (design 6.5, seed 004 section 7): drops what has expired, gives back, then walks the queue
 * in order of arrival. Whoever fits all its levels reserves them; of these the run's own become leases and others' stay reserved,
 * so it is first come first served at each level, and nobody waits for a level it does not need. Newcomers come after the queue.
 */
export function updatePermits(permits: Permits, request: PermitRequest): PermitOutcome {
  const { now, run, want } = request;
  const gone = new Set(request.giveBack);
  const leases = permits.leases.filter((lease) => lease.until > now && !gone.has(lease.key));
  const queue = permits.waiting.filter((waiter) => waiter.until > now);
  const wanted = new Map(want.map((item) => [item.key, item]));
  // Who only gives back leaves the queue alone: it may be the loser of two attempts, and the winner waits in it.
  const others = queue.filter((waiter) => waiter.run !== run || want.length === 0);
  const inTurn = [...others, ...queue.filter((waiter) => waiter.run === run && wanted.has(waiter.key)), ...newcomers(queue, request)].sort(
    byArrival,
  );
  const taken = want.length === 0 ? [] : takeInTurn(leases, inTurn, request);

  const granted = want.filter((item) => taken.some((lease) => lease.key === leaseKeyOf(item, request)));
  const rest = want.filter((item) => !granted.includes(item));
  const { waiting, ...unserved } = queueUp(rest, queue, others, request, granted.length > 0 || request.dispatching === true);
  const next: Permits = {
    ver: permits.ver + 1,
    leases: [...leases, ...taken.filter((lease) => !leases.some((held) => held.key === lease.key))],
    waiting: [...others, ...waiting].sort(byArrival),
  };
  const changed = JSON.stringify([next.leases, next.waiting]) !== JSON.stringify([permits.leases, permits.waiting]);
  return { next: changed ? next : permits, changed, granted: granted.map(keyOf), waiting: waiting.map(keyOf), ...unserved };
}

/** Ties go by key, so that all runs see one order: else two could each wait for the other. */
const byArrival = (a: Waiter, b: Waiter): number => a.since - b.since || (a.key < b.key ? -1 : 1);
const keyOf = ({ key }: { readonly key: string }): string => key;
const leaseKeyOf = (item: { readonly key: string }, request: PermitRequest): string => `${item.key}#${request.attempt}`;

function newcomers(queue: readonly Waiter[], { want, run, now, nextPoll }: PermitRequest): Waiter[] {
  return want
    .filter((item) => !queue.some((waiter) => waiter.key === item.key))
    .map((item) => ({ key: item.key, run, levels: [...item.levels], since: item.since ?? now, until: nextPoll + QUEUE.graceMs }));
}

/** Leases for the run's own calls whose turn it is. A lease it already holds under this attempt is granted again: an answer may have been lost. */
function takeInTurn(leases: readonly Lease[], inTurn: readonly Waiter[], request: PermitRequest): Lease[] {
  const used = new Map<string, number>();
  const use = (levels: readonly string[]): void => {
    for (const level of levels) used.set(level, (used.get(level) ?? 0) + 1);
  };
  for (const lease of leases) use(lease.levels);
  const taken: Lease[] = [];
  const untilOf = new Map(request.want.map((item) => [item.key, item.leaseUntil]));
  for (const waiter of inTurn) {
    const key = leaseKeyOf(waiter, request);
    const mine = waiter.run === request.run;
    const held = mine ? leases.find((lease) => lease.key === key) : undefined;
    const fits = waiter.levels.every((level) => (used.get(level) ?? 0) < (request.limits.get(level) ?? Number.POSITIVE_INFINITY));
    if (held) taken.push(held);
    else if (fits) {
      use(waiter.levels);
      if (mine) taken.push({ key, run: waiter.run, levels: waiter.levels, until: untilOf.get(waiter.key) ?? request.now });
    }
  }
  return taken;
}

/** What becomes of the calls that got nothing. A waiter's `until` is only moved when the next poll would come too late for it. */
function queueUp(
  rest: readonly WantedPermit[],
  queue: readonly Waiter[],
  others: readonly Waiter[],
  request: PermitRequest,
  dispatching: boolean,
): Pick<PermitOutcome, 'later' | 'full' | 'timedOut'> & { waiting: Waiter[] } {
  const timedOut: string[] = [];
  const full: string[] = [];
  const waiting: Waiter[] = [];
  if (dispatching) return { later: rest.map(keyOf), full, timedOut, waiting };
  for (const item of rest) {
    const before = queue.find((waiter) => waiter.key === item.key);
    const since = before?.since ?? item.since ?? request.now;
    if (request.now - since >= QUEUE.waitMs) timedOut.push(item.key);
    else if (before)
      waiting.push(before.until > request.nextPoll + POLL_SLACK_MS ? before : { ...before, until: request.nextPoll + QUEUE.graceMs });
    else if (others.length + waiting.length >= QUEUE.depth) full.push(item.key);
    else waiting.push({ key: item.key, run: request.run, levels: [...item.levels], since, until: request.nextPoll + QUEUE.graceMs });
  }
  return { later: [], full, timedOut, waiting };
}

/** ms a poll may be late without its waiters having been forgotten. */
const POLL_SLACK_MS = 1_000;

/** The levels a call counts against: global, its category, its tool; for a handler skill's tool its skill (design 6.5). */
export function levelsOf(definition: Pick<ToolDefinition, 'name' | 'category'>): string[] {
  const own = definition.category === 'skill' ? `skill:${definition.name}` : `tool:${definition.name}`;
  return ['global', `category:${definition.category}`, own];
}

interface ConcurrencySettings {
  readonly global: number;
  readonly categories: Readonly<Record<string, number>>;
  readonly tools: Readonly<Record<string, number>>;
}

/** Units of each level: as configured; for a tool without an entry, what its definition says. A level without either has no limit. */
export function concurrencyLimits(settings: ConcurrencySettings, definitions: readonly ToolDefinition[]): ReadonlyMap<string, number> {
  const limits = new Map([['global', settings.global]]);
  for (const definition of definitions) {
    const own = levelsOf(definition).at(-1);
    if (own !== undefined && definition.maxConcurrency !== undefined) limits.set(own, definition.maxConcurrency);
  }
  for (const [category, limit] of Object.entries(settings.categories)) limits.set(`category:${category}`, limit);
  for (const [tool, limit] of Object.entries(settings.tools)) limits.set(`tool:${tool}`, limit);
  return limits;
}
