/** What is known of a response before its body. */
export interface WebHead {
  /** Where it came from in the end, without a fragment. */
  readonly url: string;
  readonly status: number;
  /** Lower-case names; only those that say what the body is. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface WebResponse extends WebHead {
  /** Decompressed. */
  readonly body: Uint8Array;
  /** Redirects that were followed. */
  readonly redirects: number;
}

export interface WebRequest {
  readonly url: string;
  /** Value of the `accept` header. */
  readonly accept: string;
  /** Ends everything, looking up names included. */
  readonly signal: AbortSignal;
  /** Looks at the final response before its body is read; what it throws ends the request. */
  readonly onHead?: (head: WebHead) => void;
}

/** GET requests to the public web and nowhere else (design 6.6, network). */
export interface WebClient {
  /**
   * Errors: INVALID_ARGUMENTS for what is no URL; PERMISSION_DENIED for a destination that is not allowed, also by redirect;
   * NETWORK_ERROR; RESOURCE_EXHAUSTED for a response beyond the limits; TIMEOUT when the signal ends it.
   */
  fetch(request: WebRequest): Promise<WebResponse>;
}
