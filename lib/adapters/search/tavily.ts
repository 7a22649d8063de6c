import * as z from 'zod';
import type { SearchConfig } from '../../core/network-config.ts';
import type { SearchProvider } from '../../core/ports/search-provider.ts';
import { missingKey, type SearchContext, searchProvider } from './provider.ts';

const NAME = 'Tavily';

const answerSchema = z.object({
  results: z.array(
    z.object({ url: z.string(), title: z.string().nullish(), content: z.string().nullish(), published_date: z.string().nullish() }),
  ),
});

/** Tavily's search API. */
export function createTavily(config: Extract<SearchConfig, { provider: 'tavily' }>, context: SearchContext): SearchProvider {
  return searchProvider(
    {
      name: NAME,
      call: async ({ query, count, recency }) => {
        const key = await context.apiKey(config.api_key_secret);
        if (!key) throw missingKey(NAME);
        return {
          url: new URL('/search', config.base_url),
          headers: { authorization: `Bearer ${key}` },
          body: { query, max_results: count, search_depth: 'basic', ...(recency && { time_range: recency }) },
        };
      },
      answer: answerSchema,
      results: ({ results }) =>
        results.map(({ content, published_date, ...rest }) => ({ ...rest, snippet: content, published: published_date })),
      hints: { 432: 'the limit of its plan is reached', 433: 'the limit of its plan is reached' },
    },
    context,
  );
}
