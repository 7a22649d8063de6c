import * as z from 'zod';
import type { SearchConfig } from '../../core/network-config.ts';
import type { Recency, SearchProvider } from '../../core/ports/search-provider.ts';
import { missingKey, type SearchContext, searchProvider } from './provider.ts';

const NAME = 'Brave Search';
const FRESHNESS: Readonly<Record<Recency, string>> = { day: 'pd', week: 'pw', month: 'pm', year: 'py' };

/** No `web` when nothing was found. */
const answerSchema = z.object({
  web: z
    .object({
      results: z.array(
        z.object({
          url: z.string(),
          title: z.string().nullish(),
          description: z.string().nullish(),
          page_age: z.string().nullish(),
        }),
      ),
    })
    .nullish(),
});

/** Brave's web search API, version 1. */
export function createBrave(config: Extract<SearchConfig, { provider: 'brave' }>, context: SearchContext): SearchProvider {
  return searchProvider(
    {
      name: NAME,
      call: async ({ query, count, recency }) => {
        const key = await context.apiKey(config.api_key_secret);
        if (!key) throw missingKey(NAME);
        const url = new URL('/res/v1/web/search', config.base_url);
        url.search = String(new URLSearchParams({ q: query, count: String(count), ...(recency && { freshness: FRESHNESS[recency] }) }));
        return { url, headers: { 'x-subscription-token': key } };
      },
      answer: answerSchema,
      results: ({ web }) =>
        (web?.results ?? []).map(({ description, page_age, ...rest }) => ({ ...rest, snippet: description, published: page_age })),
      hints: { 422: 'it takes neither the query nor, perhaps, the API key' },
    },
    context,
  );
}
