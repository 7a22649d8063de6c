/**
 * Every response is made here, so none is without these headers. No CORS header is ever sent: a page of another origin
 * can neither read an answer nor pass a preflight.
 */
const COMMON_HEADERS = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
} as const;

const DATA_CSP = "default-src 'none'; frame-ancestors 'none'";
const PAGE_CSP =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; " +
  "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

export type ExtraHeaders = Readonly<Record<string, string>>;

export function json(status: number, body: unknown, headers: ExtraHeaders = {}): Response {
  return make(status, JSON.stringify(body), {
    'content-type': 'application/json; charset=utf-8',
    'content-security-policy': DATA_CSP,
    ...headers,
  });
}

export function problemDocument(status: number, body: unknown, headers: ExtraHeaders = {}): Response {
  return json(status, body, { 'content-type': 'application/problem+json', ...headers });
}

/** JSON of another server as it came, under our headers. */
export function relayed(status: number, type: 'application/json' | 'application/problem+json', text: string): Response {
  return make(status, text, { 'content-type': type, 'content-security-policy': DATA_CSP });
}

/** No content: an answer that is only its status and headers. */
export function empty(status: number, headers: ExtraHeaders = {}): Response {
  return make(status, null, { 'content-security-policy': DATA_CSP, ...headers });
}

/** A file as it is. Never shown as a page: nobody knows what an agent has written. */
export function bytes(data: Uint8Array): Response {
  return make(200, new Uint8Array(data), {
    'content-type': 'application/octet-stream',
    'content-disposition': 'attachment',
    'content-security-policy': DATA_CSP,
  });
}

/** A page for people: scripts and styles only from files of our own origin, no inline code, no frame. */
export function page(status: number, html: string, headers: ExtraHeaders = {}): Response {
  return make(status, html, { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': PAGE_CSP, ...headers });
}

/** A script or style of the page. Revalidated each time, since its address does not change with the version. */
export function asset(type: 'text/javascript' | 'text/css' | 'image/svg+xml', text: string): Response {
  return make(200, text, { 'content-type': `${type}; charset=utf-8`, 'content-security-policy': DATA_CSP });
}

function make(status: number, body: string | Uint8Array<ArrayBuffer> | null, headers: ExtraHeaders): Response {
  return new Response(body, { status, headers: { ...COMMON_HEADERS, ...headers } });
}
