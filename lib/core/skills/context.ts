import type { PreviousResult } from '../hands/call.ts';
import type { Json, JsonObject } from '../json.ts';
import type { Logger } from '../ports/logger.ts';
import type { Workspace } from '../ports/workspace.ts';

/** What a handler may send. */
export interface SkillFetchInit {
  /** @default GET */
  readonly method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Ends the request before the deadline of the call does. */
  readonly signal?: AbortSignal;
}

/** All that a handler skill is given (design section 7): what its permissions allow, and nothing of the machine. */
export interface SkillContext {
  /**
   * Reaches the hosts of the skill's own `permissions.network`: redirects are checked like the first address, at most 10 MB come
   * back. Rejects with an error whose `code` is PERMISSION_DENIED, NETWORK_ERROR, RESOURCE_EXHAUSTED, TIMEOUT or INVALID_ARGUMENTS.
   */
  fetch(url: string | URL, init?: SkillFetchInit): Promise<Response>;
  /** The session's files that `permissions.filesystem` names; absent when it names none. */
  readonly workspace?: Workspace;
  /** Aborted at the deadline of the call, and when the run is cancelled. */
  readonly signal: AbortSignal;
  readonly logger: Logger;
  readonly callId: string;
  readonly sessionId: string;
  /** Results of earlier calls of the same batch (design 6.4). */
  readonly previousResults: readonly PreviousResult[];
}

/**
 * What `handler.ts` or `handler.js` exports, as `default` or as `handler`. Text is shown to the LLM as it is, anything else as
 * JSON. To fail in a way that the LLM can act on, throw an error with a `code` of design 6.2, such as INVALID_ARGUMENTS;
 * NETWORK_ERROR, RATE_LIMITED and SERVICE_UNAVAILABLE are tried again when the skill is `idempotent`.
 */
export type SkillHandler = (args: JsonObject, context: SkillContext) => Promise<Json | undefined> | Json | undefined;
