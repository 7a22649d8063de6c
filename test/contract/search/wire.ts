import type { IncomingHttpHeaders } from 'node:http';
import type { SearchConfig } from '../../../lib/core/network-config.ts';

/** A result, free of any provider's format. Texts may hold HTML. */
interface Found {
  readonly title?: string | null;
  readonly url: string;
  readonly snippet?: string | null;
  readonly published?: string;
}

export interface ReceivedRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** How one provider speaks, written from its documentation and not from our adapter. */
export interface SearchWire {
  readonly name: string;
  config(baseUrl: string): SearchConfig;
  encode(found: readonly Found[]): unknown;
  /** What was asked; `key` as it arrived. */
  read(request: ReceivedRequest): { query: unknown; count: unknown; recency: unknown; key: unknown; path: string };
  /** How the provider says "week". */
  readonly week: string;
  /** False: the provider gives as many as it likes. */
  readonly counts: boolean;
  readonly keyed: boolean;
}

export const wires: readonly SearchWire[] = [
  {
    name: 'searxng',
    config: (baseUrl) => ({ provider: 'searxng', base_url: `${baseUrl}/searx` }),
    encode: (found) => ({
      query: 'q',
      number_of_results: 0,
      results: found.map(({ title, url, snippet, published }) => ({
        url,
        title,
        content: snippet,
        publishedDate: published ?? null,
        engine: 'duckduckgo',
        parsed_url: ['https', 'example.com', '/', '', '', ''],
        score: 1,
        category: 'general',
      })),
      answers: [],
      corrections: [],
      infoboxes: [],
      suggestions: [],
      unresponsive_engines: [['google', 'timeout']],
    }),
    read: ({ url }) => ({
      query: url.searchParams.get('q'),
      count: undefined,
      recency: url.searchParams.get('time_range') ?? undefined,
      key: undefined,
      path: `${url.pathname}?format=${url.searchParams.get('format')}`,
    }),
    week: 'week',
    counts: false,
    keyed: false,
  },
  {
    name: 'brave',
    config: (baseUrl) => ({ provider: 'brave', base_url: baseUrl, api_key_secret: 'search-key' }),
    encode: (found) => ({
      type: 'search',
      query: { original: 'q', more_results_available: false },
      mixed: { type: 'mixed', main: [] },
      ...(found.length === 0
        ? {}
        : {
            web: {
              type: 'search',
              family_friendly: true,
              results: found.map(({ title, url, snippet, published }) => ({
                type: 'search_result',
                subtype: 'generic',
                title,
                url,
                description: snippet,
                ...(published === undefined ? {} : { page_age: published }),
                profile: { name: 'x' },
              })),
            },
          }),
    }),
    read: ({ url, headers }) => ({
      query: url.searchParams.get('q'),
      count: Number(url.searchParams.get('count')),
      recency: url.searchParams.get('freshness') ?? undefined,
      key: headers['x-subscription-token'],
      path: url.pathname,
    }),
    week: 'pw',
    counts: true,
    keyed: true,
  },
  {
    name: 'tavily',
    config: (baseUrl) => ({ provider: 'tavily', base_url: baseUrl, api_key_secret: 'search-key' }),
    encode: (found) => ({
      query: 'q',
      follow_up_questions: null,
      answer: null,
      images: [],
      results: found.map(({ title, url, snippet, published }) => ({
        title,
        url,
        content: snippet,
        score: 0.9,
        raw_content: null,
        ...(published === undefined ? {} : { published_date: published }),
      })),
      response_time: 1.2,
    }),
    read: ({ url, headers, body }) => {
      const { query, max_results, time_range } = JSON.parse(body) as Record<string, unknown>;
      const key = headers.authorization?.replace(/^Bearer /, '');
      return { query, count: max_results, recency: time_range, key, path: url.pathname };
    },
    week: 'week',
    counts: true,
    keyed: true,
  },
];

/** Where each is asked, below its base address. */
export const PATHS: Readonly<Record<string, string>> = {
  searxng: '/searx/search?format=json',
  brave: '/res/v1/web/search',
  tavily: '/search',
};
