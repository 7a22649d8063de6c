import { HandrailError } from '../core/errors.ts';

/** A request as it goes out, but for the headers that show who asks. Header names are in lower case. */
export interface Outgoing {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
}

/** The headers that show a server who asks. Errors: UNAUTHORIZED when there is nothing to show. */
export type Credential = (request: Outgoing) => Promise<Readonly<Record<string, string>>>;

/** A secret or a token, the same for every request. */
export const bearer =
  (secret: string): Credential =>
  async () => ({ authorization: `Bearer ${secret}` });

/** Below the server's address; `query` as it is meant, not as it is written. */
export type Sending = Omit<Outgoing, 'url'> & { readonly path: string; readonly query?: Readonly<Record<string, string>> };

export type Sender = (request: Sending) => Promise<Response>;

const TIMEOUT_MS = 30_000;

/**
 * Sends to one server and no other: what shows who asks follows no redirect. `base` may have a path of its own, as
 * emulators do. Errors: SERVICE_UNAVAILABLE when it does not answer, and those of the credential.
 */
export function senderTo(base: string, credential: Credential): Sender {
  return async ({ path, query = {}, ...rest }) => {
    const outgoing: Outgoing = { ...rest, url: new URL(`${base}${path}${queryText(query)}`) };
    const shown = await credential(outgoing);
    const { method, url, headers, body } = outgoing;
    try {
      return await fetch(url, {
        method,
        headers: { ...headers, ...shown },
        ...(body === undefined ? {} : { body }),
        signal: AbortSignal.timeout(TIMEOUT_MS),
        redirect: 'error',
      });
    } catch (cause) {
      throw new HandrailError('SERVICE_UNAVAILABLE', `${base} does not answer (${causeOf(cause)})`, { cause });
    }
  };
}

/** A blank as `%20`: whoever checks a signature reads `+` as a plus sign. */
function queryText(query: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(query).map((pair) => pair.map(encodeURIComponent).join('='));
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

/** undici hides the reason one level down. */
function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  return cause instanceof Error ? ('code' in cause ? String(cause.code) : cause.message) : error.message;
}
