import type * as z from 'zod';
import { HandrailError } from '../../core/errors.ts';
import type { SearchProvider, SearchRequest, SearchResult } from '../../core/ports/search-provider.ts';
import { connectAnywhere } from '../network/connect.ts';
import { exchange } from '../network/exchange.ts';
import { plainText } from './plain-text.ts';

export interface SearchContext {
  /** The key as the configuration names it; undefined when there is none. */
  apiKey(secret: string | undefined): Promise<string | undefined>;
  readonly userAgent: string;
}

/** A question in the form of one provider's API. */
interface SearchCall {
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent by POST as JSON. */
  readonly body?: unknown;
}

/** A result as a provider gives it; texts may hold HTML. */
interface RawResult {
  readonly title?: string | null | undefined;
  readonly url: string;
  readonly snippet?: string | null | undefined;
  readonly published?: string | null | undefined;
}

/** What one provider's API is like. */
export interface SearchApi<Answer> {
  /** For messages. */
  readonly name: string;
  call(request: SearchRequest): SearchCall | Promise<SearchCall>;
  /** What is used of an answer; anything else in it is ignored. */
  readonly answer: z.ZodType<Answer>;
  results(answer: Answer): readonly RawResult[];
  /** What to do about a refusal, for the operator. */
  readonly hints: Readonly<Record<number, string>>;
}

const ANSWER_BYTES = 4 * 1024 * 1024;
const TITLE_CHARACTERS = 300;
const SNIPPET_CHARACTERS = 1_000;

/**
 * Asks a provider. The address is the operator's own, so it may be internal; the answer is held to the limits of any other
 * response, redirects are not followed, and neither key nor query is repeated in an error.
 */
export function searchProvider<Answer>(api: SearchApi<Answer>, context: SearchContext): SearchProvider {
  return {
    search: async (request) => {
      const { url, headers = {}, body } = await api.call(request);
      const json = body === undefined ? {} : { 'content-type': 'application/json' };
      const response = await exchange({
        url,
        method: body === undefined ? 'GET' : 'POST',
        headers: { accept: 'application/json', 'user-agent': context.userAgent, ...json, ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        connector: connectAnywhere,
        signal: request.signal,
        maxBytes: ANSWER_BYTES,
      }).catch((error: unknown) => {
        // Where the service is, is the operator's business.
        if (!(error instanceof HandrailError) || error.code !== 'NETWORK_ERROR') throw error;
        throw new HandrailError('NETWORK_ERROR', `${api.name} could not be reached.`, { cause: error });
      });
      if (response.status !== 200) throw refusal(api, response.status);
      return api.results(readAnswer(api, response.body)).flatMap(cleanResult).slice(0, request.count);
    },
  };
}

/** HandrailError UNHANDLED, which tells the operator what is missing. */
export function missingKey(name: string): HandrailError {
  return new HandrailError(
    'UNHANDLED',
    `${name} has no API key: the operator must set search.api_key_secret, or the key in the environment.`,
  );
}

function refusal({ name, hints }: Pick<SearchApi<never>, 'name' | 'hints'>, status: number): HandrailError {
  if (status === 429) return new HandrailError('RATE_LIMITED', `${name} answered 429: too many searches for now.`);
  if (status >= 500) return new HandrailError('SERVICE_UNAVAILABLE', `${name} answered ${status}.`);
  const hint = hints[status] ?? 'the operator should check base_url and the API key';
  return new HandrailError('UNHANDLED', `${name} answered ${status}: ${hint}.`);
}

function readAnswer<Answer>({ name, answer }: SearchApi<Answer>, body: Uint8Array): Answer {
  try {
    return answer.parse(JSON.parse(new TextDecoder().decode(body)));
  } catch (cause) {
    throw new HandrailError('INVALID_OUTPUT', `${name} answered in a form that is not its own; the operator should check base_url.`, {
      cause,
    });
  }
}

/** Nothing for a result without a web address. */
function cleanResult({ title, url, snippet, published }: RawResult): SearchResult[] {
  if (!URL.canParse(url)) return [];
  const parsed = new URL(url);
  if (!['http:', 'https:'].includes(parsed.protocol)) return [];
  const shownTitle = plainText(title ?? '').slice(0, TITLE_CHARACTERS);
  return [
    {
      title: shownTitle === '' ? parsed.host : shownTitle,
      url: parsed.href,
      snippet: plainText(snippet ?? '').slice(0, SNIPPET_CHARACTERS),
      ...(published ? { published: published.slice(0, 40) } : {}),
    },
  ];
}
