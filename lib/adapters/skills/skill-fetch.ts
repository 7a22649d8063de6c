import * as z from 'zod';
import { HandrailError } from '../../core/errors.ts';
import { FETCH } from '../../core/limits.ts';
import { type ConnectTo, connectPinned, systemResolve } from '../network/connect.ts';
import { checkDestination, type NetworkPolicy, parseUrl, type Resolve } from '../network/destination.ts';
import { type ExchangeResponse, exchange } from '../network/exchange.ts';

export const bytesSchema = z.custom<Uint8Array>((value) => value instanceof Uint8Array);

/** A request of a handler, checked: in a child process it comes over a pipe. */
export const skillRequestSchema = z.strictObject({
  url: z.string().max(8_192),
  method: z.enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']).default('GET'),
  headers: z.record(z.string(), z.string().max(8_192)).default({}),
  body: z.union([z.string(), bytesSchema]).optional(),
});
export type SkillRequest = z.output<typeof skillRequestSchema>;

export interface SkillResponse {
  readonly url: string;
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Uint8Array;
}

/** One request of a handler skill, to the end of its redirects. */
export type SkillFetch = (request: SkillRequest, signal: AbortSignal) => Promise<SkillResponse>;

export interface SkillFetchOptions {
  /** The skill's own `permissions.network`. */
  readonly policy: NetworkPolicy;
  readonly userAgent: string;
  /** @default the operating system's */
  readonly resolve?: Resolve | undefined;
  /** @default over TCP and TLS, to the checked addresses only */
  readonly connectTo?: ConnectTo | undefined;
}

const REDIRECTS = [301, 302, 303, 307, 308];
/** Headers that say how the connection is used, which is not the handler's to say. */
const OURS = /^(?:host|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|content-length|accept-encoding|expect)$/i;
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/;
/** What a handler meant for one host alone. */
const SECRETS = /^(?:authorization|cookie|x-api-key|api-key)$/i;

/**
 * Reaches the hosts that a skill's permissions name, and only public addresses of them: each hop is checked, looked up once and
 * connected to what was looked up (design 6.6 and 7). Errors as in `SkillContext.fetch`.
 */
export function createSkillFetch(options: SkillFetchOptions): SkillFetch {
  return async (request, signal) => {
    let next: Hop = { url: parseUrl(request.url), method: request.method, body: request.body, headers: checkedHeaders(request.headers) };
    for (let redirects = 0; ; redirects++) {
      const response = await send(next, signal, options);
      const location = REDIRECTS.includes(response.status) ? response.headers.get('location') : undefined;
      if (location === undefined) return answerOf(next.url, response);
      if (redirects === FETCH.redirects) throw refused(`redirects more than ${FETCH.redirects} times`);
      next = redirected(next, response.status, location);
    }
  };
}

interface Hop {
  readonly url: URL;
  readonly method: SkillRequest['method'];
  readonly body: SkillRequest['body'];
  readonly headers: Readonly<Record<string, string>>;
}

async function send({ url, method, body, headers }: Hop, signal: AbortSignal, options: SkillFetchOptions): Promise<ExchangeResponse> {
  const { policy, userAgent, resolve = systemResolve, connectTo = connectPinned } = options;
  const addresses = await checkDestination(url, policy, resolve, signal);
  return exchange({
    url,
    method,
    headers: { 'user-agent': userAgent, accept: '*/*', ...headers },
    ...(body === undefined ? {} : { body }),
    connector: connectTo(addresses),
    signal,
    maxBytes: FETCH.bytes,
    wantsBody: (head) => method !== 'HEAD' && !(REDIRECTS.includes(head.status) && head.headers.has('location')),
  });
}

function redirected(hop: Hop, status: number, location: string): Hop {
  if (!URL.canParse(location, hop.url.href)) throw refused('redirects to what is no URL');
  const url = new URL(location, hop.url);
  if (hop.url.protocol === 'https:' && url.protocol === 'http:') throw refused('redirects from https to http');
  const kept = Object.entries(hop.headers).filter(([name]) => url.origin === hop.url.origin || !SECRETS.test(name));
  // As browsers do: what was sent is not sent again, unless the server asks for just that.
  const asGet = (status === 303 && hop.method !== 'HEAD') || ([301, 302].includes(status) && hop.method === 'POST');
  return asGet
    ? { url, method: 'GET', body: undefined, headers: Object.fromEntries(kept.filter(([name]) => !/^content-/i.test(name))) }
    : { ...hop, url, headers: Object.fromEntries(kept) };
}

function checkedHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  for (const [name, value] of Object.entries(headers)) {
    if (!HEADER_NAME.test(name) || /[^\t\x20-\x7e\x80-\xff]/.test(value))
      throw new HandrailError('INVALID_ARGUMENTS', `the header ${JSON.stringify(name.slice(0, 100))} cannot be sent`);
    if (OURS.test(name)) throw new HandrailError('INVALID_ARGUMENTS', `the header "${name}" is not for a handler to set`);
  }
  return { ...headers };
}

function answerOf(url: URL, response: ExchangeResponse): SkillResponse {
  const shown = new URL(url);
  shown.hash = '';
  // The body is decompressed by now.
  const headers = [...response.headers].filter(([name]) => !['content-encoding', 'content-length', 'set-cookie'].includes(name));
  return { url: shown.href, status: response.status, headers, body: response.body };
}

const refused = (why: string): HandrailError => new HandrailError('PERMISSION_DENIED', `The address ${why}.`);
