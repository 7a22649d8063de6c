import type { RunCost } from '../core/cost/run-cost.ts';
import type { LinkCheck } from '../core/guard/approvals/link.ts';
import type { PolicyChange } from '../core/guard/change-policy.ts';
import type { Constraints, GuardConstraints } from '../core/guard/constraints.ts';
import type { LivePolicy } from '../core/guard/policy.ts';
import type { ToolDefinition } from '../core/hands/define-tool.ts';
import type { RefusedTool } from '../core/hands/registry.ts';
import type { RunKey } from '../core/ids.ts';
import type { JsonObject } from '../core/json.ts';
import type { Run } from '../core/loop/run.ts';
import type { Clock } from '../core/ports/clock.ts';
import type { GuardStore } from '../core/ports/guard-store.ts';
import type { Logger } from '../core/ports/logger.ts';
import type { RunStore, SessionKey } from '../core/ports/run-store.ts';
import type { SessionFiles } from '../core/ports/session-files.ts';
import type { SkillCatalogue } from '../core/skills/skill.ts';
import type { RequestAbout } from './about.ts';
import type { AuditEntry } from './audit.ts';

/** Who asks and for whom: from authentication alone, never from the request's text. */
interface Caller {
  readonly tenant: string;
  readonly principal: string;
}

export interface StartRunRequest extends Caller {
  readonly input: string;
  readonly agent?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly skills?: readonly string[] | undefined;
  /** A tree skill that runs in place of an agent. Errors: NOT_FOUND, INVALID_ARGUMENTS. */
  readonly tree?: { readonly skill: string; readonly inputs: JsonObject } | undefined;
  readonly constraints?: Constraints | undefined;
  readonly idempotencyKey?: string | undefined;
}

/** One decision as a person sent it; the use case checks that it fits the kind of the approval. */
export interface DecisionRequest {
  readonly approvalId: string;
  readonly decision: 'approve' | 'reject' | 'answer';
  readonly reason?: string | undefined;
  readonly arguments?: JsonObject | undefined;
  readonly answer?: string | undefined;
}

export interface DecideRequest extends Caller {
  /** Where it came from: `api`, `page`, or `cli`, which is the client's own word. */
  readonly how: string;
  readonly decisions: readonly DecisionRequest[];
}

/**
 * What the API needs of the product, bound by the composition root. Use cases throw HandrailErrors; any other error is
 * answered as INTERNAL and logged. Stores throw BAD_REQUEST with field `cursor` for a cursor that they did not make.
 */
export interface ApiServices {
  /** Errors: BAD_REQUEST (unknown agent), CONFLICT (the key was used for another request), SESSION_BUSY with `runId`. */
  startRun(request: StartRunRequest): Promise<Run>;
  /** The run as it then stands; a run that has ended stays as it is. Errors: NOT_FOUND. */
  cancelRun(request: RunKey & { readonly principal: string }): Promise<Run>;
  /** Errors: NOT_FOUND, ALREADY_DECIDED, EXPIRED, BAD_REQUEST, INVALID_ARGUMENTS (edited), FORBIDDEN (self approval). The API reads the outcome from the store. */
  decide(request: DecideRequest): Promise<unknown>;
  readonly runs: Pick<RunStore, 'getRun' | 'listRuns' | 'readEvents' | 'listCommits' | 'getSession' | 'readTranscript'>;
  /** `announce` is called with the runs that go, before anything does. Errors: NOT_FOUND, SESSION_BUSY with `runId`. */
  deleteSession(session: SessionKey, announce: (runs: readonly string[]) => void): Promise<void>;
  readonly files: SessionFiles;
  readonly guard: Pick<GuardStore, 'getSuspension' | 'listSuspensions' | 'getPolicy' | 'listKeptPolicies'>;
  /** Whether a link of the approval page is right. */
  checkLink(suspensionId: string, token: string): Promise<LinkCheck>;
  /** False: who comes by a link can only look (`approvals.self_approve: false`). */
  readonly linksDecide: boolean;
  /** Errors: FORBIDDEN (the deployment's policy, by another tenant than the operator's), CONFLICT with `version`, PAYLOAD_TOO_LARGE. */
  changePolicy(change: PolicyChange): Promise<LivePolicy>;
  /** What the configuration says of the guard, which a live policy only tightens. */
  readonly deployedGuard: GuardConstraints;
  /** Approvals that a client has nobody to ask for stay pending; false: the client rejects them. */
  readonly nonTtyPending: boolean;
  /** The tenant that may change the deployment's policy; undefined = none may. */
  readonly operatorTenant: string | undefined;
  /** What a run has cost so far. */
  costOf(run: Run): RunCost;
  tools(): readonly ToolDefinition[];
  /** Those that `security` leaves out. */
  refusedTools(): readonly RefusedTool[];
  skills(): SkillCatalogue;
  readonly clock: Pick<Clock, 'now'>;
  readonly logger: Logger;
  /** Fields of every line that is logged until this request is answered, where one is answered at a time. */
  about(fields: RequestAbout): void;
  audit(entry: AuditEntry): void;
  /** The product's version, shown by `/health` and the OpenAPI document. */
  readonly version: string;
}
