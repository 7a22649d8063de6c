/**
 * Every way a call or a request can fail, once: what class of failure it is, the HTTP status the API answers with, and
 * what the reader (an LLM or a person) should do. Seed 004 section 5.1, design 6.2.
 */
type ErrorClass = 'retryable' | 'non_retryable' | 'partial_success' | 'final' | 'api';

interface CodeEntry {
  readonly class: ErrorClass;
  readonly status: number;
  /** True when the same call may succeed if the LLM repeats it (`ToolResult.error.recoverable`). */
  readonly recoverable: boolean;
  readonly advice: string;
}

export const CODES = {
  TIMEOUT: { class: 'retryable', status: 504, recoverable: true, advice: 'Ask for less work in one call, or try again.' },
  NETWORK_ERROR: { class: 'retryable', status: 502, recoverable: true, advice: 'Try again later.' },
  RATE_LIMITED: { class: 'retryable', status: 429, recoverable: true, advice: 'Wait, then try again.' },
  SERVICE_UNAVAILABLE: { class: 'retryable', status: 503, recoverable: true, advice: 'Try again later.' },
  INVALID_ARGUMENTS: { class: 'non_retryable', status: 400, recoverable: false, advice: 'Correct the arguments and call again.' },
  PERMISSION_DENIED: {
    class: 'non_retryable',
    status: 403,
    recoverable: false,
    advice: 'Use another tool, or tell the user what is not allowed.',
  },
  TOOL_NOT_FOUND: { class: 'non_retryable', status: 404, recoverable: false, advice: 'Use one of the tools that exist.' },
  FILE_NOT_FOUND: { class: 'non_retryable', status: 404, recoverable: false, advice: 'Check the path with list_directory.' },
  RESOURCE_EXHAUSTED: { class: 'non_retryable', status: 413, recoverable: false, advice: 'Work with less data at a time.' },
  SANDBOX_CRASHED: {
    class: 'non_retryable',
    status: 500,
    recoverable: false,
    advice: 'Simplify the code: it exceeded what the sandbox allows.',
  },
  INVALID_OUTPUT: { class: 'non_retryable', status: 500, recoverable: false, advice: 'The result did not have the promised shape.' },
  UNHANDLED: {
    class: 'non_retryable',
    status: 500,
    recoverable: false,
    advice: 'The tool failed in a way it did not foresee; tell the user.',
  },
  PARTIAL_SUCCESS: { class: 'partial_success', status: 200, recoverable: false, advice: 'Retry only the parts that failed.' },
  RETRY_EXHAUSTED: { class: 'final', status: 502, recoverable: false, advice: 'It was retried and kept failing; do something else.' },
  QUEUE_FULL: { class: 'final', status: 503, recoverable: false, advice: 'Too many calls are waiting; make fewer calls.' },
  QUEUE_TIMEOUT: {
    class: 'final',
    status: 503,
    recoverable: true,
    advice: 'The system was busy; the call did not run and may be repeated.',
  },
  ALL_FAILED: { class: 'final', status: 500, recoverable: false, advice: 'Every part failed; check the arguments.' },
  GUARD_DENIED: {
    class: 'final',
    status: 403,
    recoverable: false,
    advice: 'The guard denied it; do not repeat it, find another way or tell the user.',
  },
  APPROVAL_REJECTED: { class: 'final', status: 403, recoverable: false, advice: 'A person rejected it; respect the reason given.' },
  APPROVAL_EXPIRED: { class: 'final', status: 410, recoverable: false, advice: 'Nobody decided in time; the call did not run.' },
  LOOP_DETECTED: {
    class: 'final',
    status: 409,
    recoverable: false,
    advice: 'The same call keeps giving the same result; do something else.',
  },
  OUTCOME_UNKNOWN: { class: 'final', status: 500, recoverable: false, advice: 'It may have run: check before you repeat it.' },
  CANCELLED: { class: 'final', status: 409, recoverable: false, advice: 'The run was cancelled; a call under way may be half done.' },
  BAD_REQUEST: { class: 'api', status: 400, recoverable: false, advice: 'Correct the request.' },
  UNAUTHORIZED: { class: 'api', status: 401, recoverable: false, advice: 'Sign in, or send the secret.' },
  FORBIDDEN: { class: 'api', status: 403, recoverable: false, advice: 'Ask for the permission that is missing.' },
  NOT_FOUND: { class: 'api', status: 404, recoverable: false, advice: 'Check the id.' },
  METHOD_NOT_ALLOWED: { class: 'api', status: 405, recoverable: false, advice: 'Use one of the methods in the Allow header.' },
  CONFLICT: { class: 'api', status: 409, recoverable: false, advice: 'Read the current state and decide again.' },
  SESSION_BUSY: { class: 'api', status: 409, recoverable: true, advice: 'Wait for the active run of the session, or cancel it.' },
  ALREADY_DECIDED: { class: 'api', status: 409, recoverable: false, advice: 'The decision that was made stands.' },
  EXPIRED: { class: 'api', status: 410, recoverable: false, advice: 'The time to decide is over.' },
  PAYLOAD_TOO_LARGE: { class: 'api', status: 413, recoverable: false, advice: 'Send less, or put it in a file of the workspace.' },
  TOO_MANY_REQUESTS: { class: 'api', status: 429, recoverable: true, advice: 'Wait, then try again.' },
  INTERNAL: { class: 'api', status: 500, recoverable: false, advice: 'Look at the logs for the cause.' },
} as const satisfies Record<string, CodeEntry>;

export type Code = keyof typeof CODES;
export const codes = Object.keys(CODES) as [Code, ...Code[]];

export function isRetryable(code: Code): boolean {
  return CODES[code].class === 'retryable';
}

interface ErrorDetails {
  readonly cause?: unknown;
  /** The field of the input that is wrong, as a JSON pointer or a dotted path. */
  readonly field?: string;
  readonly suggestions?: readonly string[];
  /** More facts for the API's problem document, such as `{ runId }` of the run that keeps a session busy. */
  readonly extra?: Readonly<Record<string, string | number | boolean>>;
}

/** The one error class: a literal code, a message that says what happened and what to do, the cause kept. */
export class HandrailError extends Error {
  override readonly name = 'HandrailError';
  readonly code: Code;
  readonly field: string | undefined;
  readonly suggestions: readonly string[];
  readonly extra: Readonly<Record<string, string | number | boolean>>;

  constructor(code: Code, message: string, details: ErrorDetails = {}) {
    super(message, 'cause' in details ? { cause: details.cause } : undefined);
    this.code = code;
    this.field = details.field;
    this.suggestions = details.suggestions ?? [];
    this.extra = details.extra ?? {};
  }
}

/** For the `default` of an exhaustive switch: does not compile while a case is missing. */
export function unreachable(value: never): never {
  throw new HandrailError('INTERNAL', `unexpected value: ${JSON.stringify(value)}`);
}
