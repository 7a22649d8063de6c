import type { JsonObject } from '../json.ts';
import type { Usage } from '../loop/usage.ts';

/** What a checker says. DENY and PENDING end the chain; CONFIRM goes on, since a later checker may deny (seed 003). */
export type Decision = 'ALLOW' | 'DENY' | 'CONFIRM' | 'PENDING';

/** How far a person's decision about one call has come; only the confirm checker and its caller write it. */
export interface ApprovalContext {
  /** An earlier checker said CONFIRM. */
  needsConfirm: boolean;
  requestId?: string;
  /** Why: what the checkers before confirm said; the chain writes it. */
  reason?: string;
  /** Hash of what a person approved; counts only when it is the hash of this very call. */
  approvedHash?: string;
  progressState?: 'approved' | 'pending' | 'rejected';
  result?: 'approved' | 'rejected' | 'pending';
}

/** Seed 003, GuardCheckContext. A checker writes `metadata` and the approval effect, nothing else. */
export interface GuardContext {
  readonly action: 'tool_call' | 'llm_call';
  readonly usage: Usage;
  readonly metadata: JsonObject;
  readonly tool?: {
    readonly name: string;
    readonly args: JsonObject;
    readonly sessionId: string;
    /** `<namespace>/<callId>`, or the tree node's path. */
    readonly nodePath: string;
    readonly aliases: readonly string[];
    readonly effectTags: readonly string[];
    /** Hash of run, call, tool and arguments. */
    readonly hash: string;
  };
  readonly approval?: ApprovalContext;
}

/** Seed 003, CheckerProtocol. One instance serves one run: `reset` before, `save` and `restore` around each step. */
export interface Checker {
  readonly name: string;
  check(action: GuardContext['action'], context: GuardContext): Promise<[Decision, string]>;
  reset(): void;
  /** State that must outlive the step; kept in the run item. */
  save?(): JsonObject;
  restore?(state: JsonObject): void;
}
