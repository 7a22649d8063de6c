export const recencies = ['day', 'week', 'month', 'year'] as const;
export type Recency = (typeof recencies)[number];

export interface SearchRequest {
  readonly query: string;
  /** At most this many results. */
  readonly count: number;
  readonly recency?: Recency;
  readonly signal: AbortSignal;
}

export interface SearchResult {
  readonly title: string;
  /** http or https. */
  readonly url: string;
  /** Plain text; may be empty. */
  readonly snippet: string;
  /** As the provider says it. */
  readonly published?: string;
}

/** A web search service (design 6.6): one of `search.provider`. */
export interface SearchProvider {
  /**
   * Best first; an empty list means nothing was found. Errors: RATE_LIMITED, SERVICE_UNAVAILABLE, NETWORK_ERROR; UNHANDLED when
   * the service refuses the key or the request; INVALID_OUTPUT for an answer in another form.
   */
  search(request: SearchRequest): Promise<readonly SearchResult[]>;
}
