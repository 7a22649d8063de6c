import * as z from 'zod';
import type { SearchConfig } from '../../core/network-config.ts';
import type { SearchProvider } from '../../core/ports/search-provider.ts';
import { type SearchContext, searchProvider } from './provider.ts';

const answerSchema = z.object({
  results: z.array(
    z.object({ url: z.string(), title: z.string().nullish(), content: z.string().nullish(), publishedDate: z.string().nullish() }),
  ),
});

/** SearXNG's search API (docs.searxng.org, "Search API"). It has no keys; the number of results is its own, and cut here. */
export function createSearxng(config: Extract<SearchConfig, { provider: 'searxng' }>, context: SearchContext): SearchProvider {
  return searchProvider(
    {
      name: 'SearXNG',
      call: ({ query, recency }) => {
        const url = new URL('search', withSlash(config.base_url));
        url.search = String(new URLSearchParams({ q: query, format: 'json', ...(recency && { time_range: recency }) }));
        return { url };
      },
      answer: answerSchema,
      results: ({ results }) =>
        results.map(({ content, publishedDate, ...rest }) => ({ ...rest, snippet: content, published: publishedDate })),
      hints: { 403: 'the operator must allow the format "json" in its settings (search.formats)' },
    },
    context,
  );
}

/** So that the last part of the path stays. */
function withSlash(base: string): string {
  return base.endsWith('/') ? base : `${base}/`;
}
