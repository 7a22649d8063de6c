import { HandrailError } from '../../../core/errors.ts';
import { pendingCalls, type Suspension } from '../../../core/guard/approvals/suspension.ts';
import { DEPLOYMENT, type LivePolicy } from '../../../core/guard/policy.ts';
import { noPermits, type Permits } from '../../../core/hands/permits-item.ts';
import { canonicalJson } from '../../../core/json.ts';
import type { GuardStore } from '../../../core/ports/guard-store.ts';
import { type Item, itemBytes, toText } from './codec.ts';
import { placeholders } from './expression.ts';
import {
  fromPermitsItem,
  fromPolicyItem,
  fromSuspensionItem,
  toKeptPolicyItem,
  toPermitsItem,
  toPolicyItem,
  toSuspensionItem,
} from './guard-items.ts';
import { type ItemKey, permitsItemKey, policyItemKey, suspensionItemKey } from './keys.ts';
import { listByTenant, listKeptPolicies } from './lists.ts';
import { batchDelete, batchGet, batchPut, conditionalPut, type DynamoDeps, getItem, itemsAt } from './requests.ts';
import { changeSuspension, tokenKey } from './suspension-change.ts';

/** Leaves room in a 400 KB item (service limit) for tokens and decisions. */
const SUSPENSION_ITEM_BYTES = 350_000;

/** The guard table: suspensions, permits, policy (design sections 4 and 5.3). */
export function dynamoGuardStore(deps: DynamoDeps): GuardStore {
  const table = deps.tables.guard;
  return {
    async getSuspension(suspensionId) {
      const item = await getItem(deps, table, suspensionItemKey(suspensionId));
      return item && fromSuspensionItem(item);
    },
    openSuspension: (suspension) => openSuspension(deps, suspension),
    changeSuspension: (suspensionId, change) => changeSuspension(deps, suspensionId, change),
    listSuspensions: (tenant, query) => listSuspensions(deps, tenant, query),
    eraseSuspension: (suspensionId) => batchDelete(deps, table, [suspensionItemKey(suspensionId)]),
    async getPermits() {
      const item = await getItem(deps, table, permitsItemKey);
      return item ? fromPermitsItem(item) : noPermits;
    },
    putPermits: (next) => putPermits(deps, next),
    async getPolicy(tenant) {
      const item = await getItem(deps, table, policyItemKey(tenant));
      return item && fromPolicyItem(item);
    },
    async getPolicies(tenant) {
      const keys = [policyItemKey(DEPLOYMENT), policyItemKey(tenant)];
      return itemsAt(await batchGet(deps, { [table]: keys }, true), table, keys).map(fromPolicyItem);
    },
    putPolicy: (tenant, policy) => putPolicy(deps, tenant, policy),
    keepPolicy: (tenant, policy) => batchPut(deps, table, [toKeptPolicyItem(tenant, policy)]),
    listKeptPolicies: (tenant, query) => listKeptPolicies(deps, tenant, query),
  };
}

async function openSuspension(deps: DynamoDeps, suspension: Suspension): Promise<void> {
  const item = toSuspensionItem(suspension, tokenKey);
  if (itemBytes(item) > SUSPENSION_ITEM_BYTES)
    throw new HandrailError(
      'RESOURCE_EXHAUSTED',
      `the calls of suspension ${suspension.suspensionId} take over ${SUSPENSION_ITEM_BYTES} bytes`,
    );
  const at = placeholders();
  await conditionalPut(deps, deps.tables.guard, item, at, `attribute_not_exists(${at.name('pk')})`);
}

async function listSuspensions(
  deps: DynamoDeps,
  tenant: string,
  query: Parameters<GuardStore['listSuspensions']>[1],
): ReturnType<GuardStore['listSuspensions']> {
  const { guard } = deps.tables;
  return listByTenant(deps, {
    table: guard,
    index: query.pending ? 'pending' : 'byTenant',
    tenant,
    limit: query.limit,
    cursor: query.cursor,
    keyOf: suspensionItemKey,
    async fetch(ids) {
      const items = await batchGet(deps, { [guard]: ids.map(suspensionItemKey) }, false);
      const suspensions = itemsAt(items, guard, ids.map(suspensionItemKey)).map(fromSuspensionItem);
      // One leaves the index when it is delivered, which is a moment after the last decision.
      return suspensions.filter((suspension) => !query.pending || pendingCalls(suspension).length > 0);
    },
  });
}

async function putPermits(deps: DynamoDeps, next: Permits): Promise<boolean> {
  return putVersion(
    deps,
    toPermitsItem(next),
    'ver',
    next.ver,
    (item) => canonicalJson(JSON.parse(toText(fromPermitsItem(item)))) === canonicalJson(JSON.parse(toText(next))),
  );
}

async function putPolicy(deps: DynamoDeps, tenant: string, policy: LivePolicy): Promise<boolean> {
  return putVersion(
    deps,
    toPolicyItem(tenant, policy),
    'version',
    policy.version,
    (item) => canonicalJson(JSON.parse(toText(fromPolicyItem(item)))) === canonicalJson(JSON.parse(toText(policy))),
  );
}

/** Writes version `version` over the one before (no item before the first). `same`: a retry after a lost answer found its own write. */
async function putVersion(
  deps: DynamoDeps,
  item: Item & ItemKey,
  attribute: string,
  version: number,
  same: (item: Item) => boolean,
): Promise<boolean> {
  const at = placeholders();
  const name = at.name(attribute);
  const condition = version === 1 ? `attribute_not_exists(${name})` : `${name}=${at.value(version - 1)}`;
  const put = await conditionalPut(deps, deps.tables.guard, item, at, condition);
  return put.done || (put.item !== undefined && same(put.item));
}
