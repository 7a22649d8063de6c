import * as z from 'zod';
import {
  type Approval,
  approvalDecisionSchema,
  approvalSchema,
  approvalStatuses,
  type Link,
  linkSchema,
  type Suspension,
  suspensionSchema,
} from '../../../core/guard/approvals/suspension.ts';
import { type LivePolicy, livePolicySchema } from '../../../core/guard/policy.ts';
import { type Permits, permitsSchema } from '../../../core/hands/permits-item.ts';
import { fromItem, type Item, parseText, toItem, toText } from './codec.ts';
import { type ItemKey, keptPolicyItemKey, listKey, permitsItemKey, policyItemKey, suspensionItemKey } from './keys.ts';
import { DUE_SHARD } from './tables.ts';

const PERMITS_TEXT: ReadonlySet<string> = new Set(['leases', 'waiting']);
const POLICY_TEXT: ReadonlySet<string> = new Set(['guard']);
const NO_TEXT: ReadonlySet<string> = new Set();

export const toPermitsItem = (permits: Permits): Item & ItemKey => ({ ...permitsItemKey, v: 1, ...toItem(permits, PERMITS_TEXT) });
export const fromPermitsItem = (item: Item): Permits => {
  const { v: _v, ...permits } = fromItem(permitsSchema.extend({ v: z.literal(1) }), item, PERMITS_TEXT);
  return permits;
};

export const toPolicyItem = (tenant: string, policy: LivePolicy): Item & ItemKey => ({
  ...policyItemKey(tenant),
  ...toItem(policy, POLICY_TEXT),
});
export const toKeptPolicyItem = (tenant: string, policy: LivePolicy): Item & ItemKey => ({
  ...keptPolicyItemKey(tenant, policy.version),
  ...toItem(policy, POLICY_TEXT),
});
export const fromPolicyItem = (item: Item): LivePolicy => fromItem(livePolicySchema, item, POLICY_TEXT);

/** What conditions and changes need of an approval is apart; the rest never changes and is one text. */
const storedApprovalSchema = z.object({
  status: z.enum(approvalStatuses),
  expiresAt: z.number(),
  decision: z.string().optional(),
  body: z.string(),
});
const storedTokenSchema = suspensionSchema.shape.tokens.element;

/** A suspension as stored: approvals by call id, tokens by digest, so that each can be changed alone. */
const storedSuspensionSchema = suspensionSchema.extend({
  approvals: z.record(z.string(), storedApprovalSchema),
  tokens: z.record(z.string(), storedTokenSchema),
  links: z.set(z.string()).optional(),
});

/** `<expiresAt>#<hash>`: an element of the set of links. */
export const linkText = ({ hash, expiresAt }: Link): string => `${expiresAt}#${hash}`;

/** The links of an item, of which nothing else need have been read. */
export function linksOf(item: Item): Link[] {
  const { links } = fromItem(z.object({ links: z.set(z.string()).optional() }), item, NO_TEXT);
  return [...(links ?? [])].sort().map((text) => {
    const mark = text.indexOf('#');
    return linkSchema.parse({ expiresAt: Number(text.slice(0, mark)), hash: text.slice(mark + 1) });
  });
}

/** `tokenKey`: the attribute a token is kept under, so that adding it twice keeps it once. */
export function toSuspensionItem(suspension: Suspension, tokenKey: (token: string) => string): Item & ItemKey {
  const { approvals, tokens, links = [], dueAt, ...rest } = suspension;
  const due = dueAt ?? earliestExpiry(suspension);
  return {
    ...suspensionItemKey(suspension.suspensionId),
    ...toItem(rest, NO_TEXT),
    approvals: Object.fromEntries(Object.entries(approvals).map(([callId, approval]) => [callId, toStoredApproval(approval)])),
    tokens: Object.fromEntries(tokens.map((token) => [tokenKey(token.token), token])),
    // The service knows no empty set.
    ...(links.length === 0 ? {} : { links: new Set(links.map(linkText)) }),
    listKey: listKey(suspension.createdAt, suspension.suspensionId),
    dueShard: DUE_SHARD,
    ...(due === undefined ? {} : { dueAt: due }),
    ...(earliestExpiry(suspension) === undefined ? {} : { pendingTenant: suspension.tenant }),
  };
}

export function fromSuspensionItem(item: Item): Suspension {
  const { approvals, tokens, links, ...rest } = fromItem(storedSuspensionSchema, item, NO_TEXT);
  const parsed = Object.entries(approvals).map(([callId, stored]): [string, Approval] => [callId, fromStoredApproval(item, stored)]);
  return {
    ...rest,
    approvals: Object.fromEntries(parsed.sort(([a], [b]) => a.localeCompare(b, 'en', { numeric: true }))),
    ...(links === undefined ? {} : { links: linksOf(item) }),
    tokens: Object.values(tokens).sort((a, b) => a.at - b.at || (a.token < b.token ? -1 : 1)),
  };
}

/** The approvals of an item with `settled` in them, as they are stored. */
export function withSettled(
  item: Item,
  settled: readonly {
    readonly callId: string;
    readonly status: Approval['status'];
    readonly decision: NonNullable<Approval['decision']>;
  }[],
): Item {
  const { approvals } = fromItem(storedSuspensionSchema, item, NO_TEXT);
  const changed = settled.flatMap(({ callId, status, decision }) => {
    const stored = approvals[callId];
    return stored ? [[callId, { ...stored, status, decision: toText(decision) }] as const] : [];
  });
  return { ...approvals, ...Object.fromEntries(changed) };
}

/** When the first of the pending approvals expires; undefined when none is pending. */
export function earliestExpiry(suspension: Suspension): number | undefined {
  const pending = Object.values(suspension.approvals).filter((approval) => approval.status === 'pending');
  return pending.length === 0 ? undefined : Math.min(...pending.map((approval) => approval.expiresAt));
}

function toStoredApproval({ status, expiresAt, decision, ...body }: Approval): Item {
  return { status, expiresAt, body: toText(body), ...(decision ? { decision: toText(decision) } : {}) };
}

function fromStoredApproval(item: Item, { status, expiresAt, decision, body }: z.infer<typeof storedApprovalSchema>): Approval {
  const rest = parseText(approvalSchema.omit({ status: true, expiresAt: true, decision: true }), item, body);
  return { ...rest, status, expiresAt, ...(decision === undefined ? {} : { decision: parseText(approvalDecisionSchema, item, decision) }) };
}
