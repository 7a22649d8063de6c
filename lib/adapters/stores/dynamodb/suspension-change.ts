import { createHash } from 'node:crypto';
import { unreachable } from '../../../core/errors.ts';
import {
  type ApprovalDecision,
  type ApprovalStatus,
  type Link,
  MAX_LINKS,
  pendingCalls,
  type Suspension,
  type SuspensionChange,
} from '../../../core/guard/approvals/suspension.ts';
import { canonicalJson } from '../../../core/json.ts';
import type { ChangeOutcome } from '../../../core/ports/guard-store.ts';
import { toText } from './codec.ts';
import { type Placeholders, placeholders } from './expression.ts';
import { earliestExpiry, fromSuspensionItem, linkText, withSettled } from './guard-items.ts';
import { suspensionItemKey } from './keys.ts';
import { type Conditional, conditionalUpdate, type DynamoDeps, getItem } from './requests.ts';

/**
 * Approvals changed one by one in an update: four operators each, and the service allows 300 in an expression. More decisions
 * than that write the map whole; more that expire or are cancelled are several updates, each all or nothing.
 */
const APPROVALS_PER_UPDATE = 60;
/** Counts the updates that settle approvals, so that the map is never written whole over somebody else's. */
const CHANGES = 'changes';

interface Settled {
  readonly callId: string;
  readonly status: ApprovalStatus;
  readonly decision: ApprovalDecision;
}

/** Whether `expiresAt` must be ahead, past, or does not matter. */
type Expiry = 'ahead' | 'past' | 'any';

/** Attribute of a token in the map: its digest, since a token may be longer than a name in an expression may be. */
export const tokenKey = (token: string): string => createHash('sha256').update(token).digest('hex').slice(0, 32);

/** Every change of a suspension (design 5.3); see `SuspensionChange` for the condition of each. */
export async function changeSuspension(deps: DynamoDeps, suspensionId: string, change: SuspensionChange): Promise<ChangeOutcome> {
  switch (change.kind) {
    case 'decide':
      return change.decisions.length > APPROVALS_PER_UPDATE
        ? settleWhole(deps, suspensionId, change.decisions, change.now)
        : settle(deps, suspensionId, change.decisions, change.now, 'ahead');
    case 'expire': {
      const decision = { by: 'handrail', at: change.now, how: 'sweep' };
      return settle(
        deps,
        suspensionId,
        change.callIds.map((callId) => ({ callId, status: 'expired', decision })),
        change.now,
        'past',
      );
    }
    case 'cancel': {
      const decision = { by: change.by, at: change.now, how: 'cancel' };
      return settle(
        deps,
        suspensionId,
        change.callIds.map((callId) => ({ callId, status: 'cancelled', decision })),
        change.now,
        'any',
      );
    }
    case 'token': {
      const at = placeholders();
      const path = `${at.name('tokens')}.${at.name(tokenKey(change.token))}`;
      const token = { token: change.token, execution: change.execution, at: change.now };
      return apply(deps, suspensionId, at, `SET ${path}=if_not_exists(${path},${at.value(token)})`);
    }
    case 'link':
      return addLink(deps, suspensionId, change.link);
    case 'notified':
      return mark(deps, suspensionId, { notifiedAt: change.now }, false);
    case 'delivered':
      return mark(deps, suspensionId, { deliveredAt: change.now }, true);
    case 'ack':
      return mark(deps, suspensionId, { ackedAt: change.now, ttl: change.ttl }, true);
    case 'due':
      return postpone(deps, suspensionId, change.dueAt);
    default:
      return unreachable(change);
  }
}

/** A set of texts: it needs no place of its own in items that have none yet, and the same text twice is one. */
async function addLink(deps: DynamoDeps, suspensionId: string, link: Link): Promise<ChangeOutcome> {
  const at = placeholders();
  const [links, notified] = [at.name('links'), at.name('notifiedAt')];
  const room = `(attribute_not_exists(${links}) OR size(${links})<${at.value(MAX_LINKS)})`;
  const update = `ADD ${links} ${at.value(new Set([linkText(link)]))}`;
  const outcome = await apply(deps, suspensionId, at, update, `attribute_not_exists(${notified}) AND ${room}`);
  // A request whose answer was lost is repeated by the client.
  return { ...outcome, applied: outcome.applied || outcome.suspension?.links?.some(({ hash }) => hash === link.hash) === true };
}

/** Sets what is not set yet. `closed`: nobody has to look at it any more, so it leaves the sparse indexes. */
async function mark(
  deps: DynamoDeps,
  suspensionId: string,
  marks: Readonly<Record<string, number>>,
  closed: boolean,
): Promise<ChangeOutcome> {
  const at = placeholders();
  const sets = Object.entries(marks).map(([name, value]) => `${at.name(name)}=if_not_exists(${at.name(name)},${at.value(value)})`);
  return apply(deps, suspensionId, at, `SET ${sets.join(',')}${closed ? ` REMOVE ${at.name('dueAt')},${at.name('pendingTenant')}` : ''}`);
}

/** One that has been delivered must not come back into the index. */
async function postpone(deps: DynamoDeps, suspensionId: string, dueAt: number): Promise<ChangeOutcome> {
  const at = placeholders();
  const open = `attribute_not_exists(${at.name('deliveredAt')}) AND attribute_not_exists(${at.name('ackedAt')})`;
  return apply(deps, suspensionId, at, `SET ${at.name('dueAt')}=${at.value(dueAt)}`, open);
}

async function settle(
  deps: DynamoDeps,
  suspensionId: string,
  settled: readonly Settled[],
  now: number,
  expiry: Expiry,
): Promise<ChangeOutcome> {
  let outcome: ChangeOutcome | undefined;
  for (let start = 0; start < settled.length; start += APPROVALS_PER_UPDATE) {
    outcome = await settleSome(deps, suspensionId, settled.slice(start, start + APPROVALS_PER_UPDATE), now, expiry);
    if (!outcome.applied) return outcome;
  }
  if (outcome?.suspension) return { applied: true, suspension: await rest(deps, outcome.suspension) };
  const item = await getItem(deps, deps.tables.guard, suspensionItemKey(suspensionId));
  return { applied: item !== undefined, suspension: item && fromSuspensionItem(item) };
}

async function settleSome(
  deps: DynamoDeps,
  suspensionId: string,
  settled: readonly Settled[],
  now: number,
  expiry: Expiry,
): Promise<ChangeOutcome> {
  const at = placeholders();
  const [status, decision, pending] = [at.name('status'), at.name('decision'), at.value('pending')];
  // Only what an expression uses may be named in the request.
  const live = expiry === 'any' ? '' : `.${at.name('expiresAt')}${expiry === 'ahead' ? '>' : '<='}${at.value(now)}`;
  const path = pathOf(at);
  const conditions = settled.map(({ callId }) => {
    return `${path(callId)}.${status}=${pending}${live === '' ? '' : ` AND ${path(callId)}${live}`}`;
  });
  const sets = settled.flatMap((one) => [
    `${path(one.callId)}.${status}=${at.value(one.status)}`,
    `${path(one.callId)}.${decision}=${at.value(toText(one.decision))}`,
  ]);
  // Whoever decides also delivers. Should that fail, sweep finds it: due at once.
  const update = `SET ${at.name('dueAt')}=${at.value(now)},${sets.join(',')} ADD ${at.name(CHANGES)} ${at.value(1)}`;
  const outcome = await apply(deps, suspensionId, at, update, conditions.join(' AND '));
  // The client repeats a request whose answer was lost: then the decisions that stand are these very ones.
  return {
    ...outcome,
    applied: outcome.applied || (outcome.suspension !== undefined && settled.every((one) => stands(outcome.suspension, one))),
  };
}

/** All of `settled` or none, however many: what was read and found open is written back, unless anything was settled since. */
async function settleWhole(deps: DynamoDeps, suspensionId: string, settled: readonly Settled[], now: number): Promise<ChangeOutcome> {
  const item = await getItem(deps, deps.tables.guard, suspensionItemKey(suspensionId));
  if (!item) return { applied: false, suspension: undefined };
  const read = fromSuspensionItem(item);
  const isOpen = ({ callId }: Settled): boolean => {
    const approval = Object.hasOwn(read.approvals, callId) ? read.approvals[callId] : undefined;
    return approval?.status === 'pending' && approval.expiresAt > now;
  };
  if (!settled.every(isOpen)) return { applied: settled.every((one) => stands(read, one)), suspension: read };
  const at = placeholders();
  const changes = at.name(CHANGES);
  const unchanged = item[CHANGES] === undefined ? `attribute_not_exists(${changes})` : `${changes}=${at.value(item[CHANGES])}`;
  const set = `SET ${at.name('dueAt')}=${at.value(now)},${at.name('approvals')}=${at.value(withSettled(item, settled))}`;
  const outcome = await apply(deps, suspensionId, at, `${set} ADD ${changes} ${at.value(1)}`, unchanged);
  const applied = outcome.applied || settled.every((one) => stands(outcome.suspension, one));
  return applied && outcome.suspension ? { applied, suspension: await rest(deps, outcome.suspension) } : { ...outcome, applied };
}

/**
 * `dueAt` once the decisions are in. While others are pending there is nothing to deliver: due when the first of them
 * expires. One that was delivered before stays out of the index.
 */
async function rest(deps: DynamoDeps, suspension: Suspension): Promise<Suspension> {
  const at = placeholders();
  if (suspension.deliveredAt !== undefined)
    return (await apply(deps, suspension.suspensionId, at, `REMOVE ${at.name('dueAt')}`)).suspension ?? suspension;
  const dueAt = earliestExpiry(suspension);
  if (dueAt === undefined) return suspension;
  const path = pathOf(at);
  const [status, pending] = [at.name('status'), at.value('pending')];
  // Should one of them be settled meanwhile, whoever did that has set the right time.
  const condition = pendingCalls(suspension)
    .slice(0, APPROVALS_PER_UPDATE)
    .map((callId) => `${path(callId)}.${status}=${pending}`)
    .join(' AND ');
  return (await apply(deps, suspension.suspensionId, at, `SET ${at.name('dueAt')}=${at.value(dueAt)}`, condition)).suspension ?? suspension;
}

const pathOf =
  (at: Placeholders) =>
  (callId: string): string =>
    `${at.name('approvals')}.${at.name(callId)}`;

function stands(suspension: Suspension | undefined, { callId, status, decision }: Settled): boolean {
  const approval = suspension && Object.hasOwn(suspension.approvals, callId) ? suspension.approvals[callId] : undefined;
  return (
    approval?.status === status &&
    approval.decision !== undefined &&
    canonicalJson(JSON.parse(toText(approval.decision))) === canonicalJson(JSON.parse(toText(decision)))
  );
}

async function apply(deps: DynamoDeps, suspensionId: string, at: Placeholders, update: string, condition?: string): Promise<ChangeOutcome> {
  const exists = `attribute_exists(${at.name('pk')})`;
  const outcome: Conditional = await conditionalUpdate(deps, deps.tables.guard, suspensionItemKey(suspensionId), {
    at,
    update,
    condition: condition === undefined ? exists : `${exists} AND ${condition}`,
  });
  return { applied: outcome.done, suspension: outcome.item && fromSuspensionItem(outcome.item) };
}
