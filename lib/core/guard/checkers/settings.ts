import type { ApprovalManager } from '../approvals/manager.ts';
import type { MergedConstraints } from '../constraints.ts';

/** What the built-in checkers of one preflight go by. */
export interface GuardSettings {
  /** Merged, live policies included. */
  readonly constraints: MergedConstraints;
  /** Decides instead of a person (app-level only, design 5.1); undefined = ask. */
  readonly confirmDefault: 'allow' | 'deny' | undefined;
  /** Asks on the spot instead of answering PENDING: for programs that run the guard themselves. Served, it is absent. */
  readonly approvals?: Pick<ApprovalManager, 'confirmTool' | 'popResolved'> | undefined;
}
