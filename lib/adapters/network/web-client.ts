import { HandrailError } from '../../core/errors.ts';
import { FETCH } from '../../core/limits.ts';
import type { WebClient, WebHead, WebRequest, WebResponse } from '../../core/ports/web-client.ts';
import { type ConnectTo, connectPinned, systemResolve } from './connect.ts';
import { checkDestination, type NetworkPolicy, parseUrl, type Resolve } from './destination.ts';
import { type ExchangeHead, exchange } from './exchange.ts';

export interface WebClientOptions {
  readonly policy: NetworkPolicy;
  readonly userAgent: string;
  /** @default the operating system's */
  readonly resolve?: Resolve;
  /** @default over TCP and TLS, to the given addresses only */
  readonly connectTo?: ConnectTo;
}

const REDIRECTS = [301, 302, 303, 307, 308];
/** What a reader needs to make sense of the body. Nothing here can set a cookie or carry a long text. */
const KEPT_HEADERS = ['content-type', 'content-language', 'content-disposition', 'last-modified', 'etag', 'date', 'retry-after'];
const HEADER_CHARACTERS = 200;

/**
 * Reads the public web for those who may not reach anything else (design 6.6, sandbox): every hop is checked, looked up once
 * and connected to what was looked up.
 */
export function createWebClient(options: WebClientOptions): WebClient {
  return { fetch: (request) => fetchChecked(request, options) };
}

async function fetchChecked(request: WebRequest, options: WebClientOptions): Promise<WebResponse> {
  let url = parseUrl(request.url);
  for (let redirects = 0; ; redirects++) {
    const { head, body } = await fetchOnce(url, request, options);
    const next = redirectTarget(head, url);
    if (next === undefined) return { ...shownHead(head, url), body, redirects };
    if (redirects === FETCH.redirects)
      throw new HandrailError('PERMISSION_DENIED', `The address redirects more than ${FETCH.redirects} times.`);
    url = next;
  }
}

async function fetchOnce(
  url: URL,
  { accept, signal, onHead }: WebRequest,
  { policy, userAgent, resolve = systemResolve, connectTo = connectPinned }: WebClientOptions,
): Promise<{ readonly head: ExchangeHead; readonly body: Uint8Array }> {
  const addresses = await checkDestination(url, policy, resolve, signal);
  const response = await exchange({
    url,
    method: 'GET',
    headers: { accept, 'user-agent': userAgent },
    connector: connectTo(addresses),
    signal,
    maxBytes: FETCH.bytes,
    wantsBody: (head) => {
      if (isRedirect(head)) return false;
      onHead?.(shownHead(head, url));
      return true;
    },
  });
  return { head: response, body: response.body };
}

function isRedirect({ status, headers }: ExchangeHead): boolean {
  return REDIRECTS.includes(status) && headers.has('location');
}

/** Where to go on, or undefined. From https it never goes on in the clear. */
function redirectTarget(head: ExchangeHead, url: URL): URL | undefined {
  if (!isRedirect(head)) return undefined;
  const location = head.headers.get('location') ?? '';
  if (!URL.canParse(location, url.href)) throw new HandrailError('PERMISSION_DENIED', 'The address redirects to what is no URL.');
  const next = new URL(location, url);
  if (url.protocol === 'https:' && next.protocol === 'http:') {
    throw new HandrailError('PERMISSION_DENIED', `The address redirects from https to http, to ${next.host.slice(0, 100)}.`, {
      suggestions: ['If that is acceptable, ask for the http address itself.'],
    });
  }
  return next;
}

function shownHead({ status, headers }: ExchangeHead, url: URL): WebHead {
  const kept = KEPT_HEADERS.flatMap((name) => {
    const value = headers.get(name);
    return value === undefined ? [] : [[name, value.slice(0, HEADER_CHARACTERS)] as const];
  });
  const shown = new URL(url);
  shown.hash = '';
  return { url: shown.href, status, headers: Object.fromEntries(kept) };
}
