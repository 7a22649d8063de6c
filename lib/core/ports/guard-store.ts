import type { Suspension, SuspensionChange } from '../guard/approvals/suspension.ts';
import type { LivePolicy } from '../guard/policy.ts';
import type { Permits } from '../hands/permits-item.ts';
import type { Page } from './run-store.ts';

export interface ChangeOutcome {
  readonly applied: boolean;
  /** As it stands afterwards; undefined when there is none. */
  readonly suspension: Suspension | undefined;
}

/** The guard table: suspensions, permits, policy. */
export interface GuardStore {
  getSuspension(suspensionId: string): Promise<Suspension | undefined>;
  /** Puts it if absent. */
  openSuspension(suspension: Suspension): Promise<void>;
  /** One conditional UpdateItem returning ALL_NEW. */
  changeSuspension(suspensionId: string, change: SuspensionChange): Promise<ChangeOutcome>;
  /** By tenant, newest first; only those with a pending approval when `pending` (eventually consistent). */
  listSuspensions(tenant: string, query: { pending: boolean; limit: number; cursor?: string }): Promise<Page<Suspension>>;
  eraseSuspension(suspensionId: string): Promise<void>;
  getPermits(): Promise<Permits>;
  /** Writes `next` if the item's `ver` is still `next.ver - 1`. */
  putPermits(next: Permits): Promise<boolean>;
  getPolicy(tenant: string): Promise<LivePolicy | undefined>;
  /** What holds for a tenant's runs, the deployment's policy and its own, in one request. */
  getPolicies(tenant: string): Promise<LivePolicy[]>;
  /** Writes it if the stored version is still `policy.version - 1` (0 = absent). */
  putPolicy(tenant: string, policy: LivePolicy): Promise<boolean>;
  /** Keeps a version that is about to be replaced. Its key is final, so repeating is harmless. */
  keepPolicy(tenant: string, policy: LivePolicy): Promise<void>;
  /** Versions that were replaced, newest first. */
  listKeptPolicies(tenant: string, query: { limit: number; cursor?: string }): Promise<Page<LivePolicy>>;
}
