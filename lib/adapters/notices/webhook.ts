import { createHmac } from 'node:crypto';
import { HandrailError } from '../../core/errors.ts';
import type { Clock, Random } from '../../core/ports/clock.ts';
import type { Channel } from './channel.ts';
import { slackMessage } from './slack-message.ts';

export interface WebhookOptions {
  /** Slack's incoming webhooks carry their secret in it, so it is never logged. */
  url(): Promise<string>;
  /** Key of the signature; undefined = unsigned. */
  secret(): Promise<string | undefined>;
  /** `slack`: a message of Slack, which others read too. `json`: the notice as it is. */
  readonly format: 'slack' | 'json';
  readonly clock: Clock;
  readonly random: Pick<Random, 'number'>;
  /** ms for one attempt. @default 3000 */
  readonly timeoutMs?: number;
}

const ATTEMPTS = 3;
const TIMEOUT_MS = 3_000;
const BACKOFF_MS = 500;
const SIGNATURE_HEADER = 'x-handrail-signature';
const TIMESTAMP_HEADER = 'x-handrail-timestamp';

/**
 * An HTTP address that is told. Tried again, with a growing pause, after a timeout, a lost connection, 408, 429 and 5xx;
 * redirects are not followed, since the link is for this address alone. Design 5.3.
 */
export function webhookChannel(options: WebhookOptions): Channel {
  return {
    name: 'webhook',
    async send(notice) {
      const [url, secret] = await Promise.all([options.url(), options.secret()]);
      const body = JSON.stringify(options.format === 'slack' ? slackMessage(notice) : { type: 'approval.requested', ...notice });
      for (let attempt = 1; ; attempt++) {
        const failure = await post(url, body, secret, options);
        if (failure === undefined) return;
        if (!failure.again || attempt === ATTEMPTS)
          throw new HandrailError('NETWORK_ERROR', `the webhook ${failure.what} (attempt ${attempt} of ${ATTEMPTS})`);
        await options.clock.sleep(BACKOFF_MS * 2 ** (attempt - 1) * (0.5 + options.random.number()));
      }
    },
  };
}

/** `v1=<hex>`: HMAC-SHA256, with the secret as key, of the timestamp (seconds since 1970), a dot and the body as sent. */
function signatureOf(secret: string, timestamp: string, body: string): string {
  return `v1=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`;
}

interface Failure {
  readonly what: string;
  readonly again: boolean;
}

async function post(url: string, body: string, secret: string | undefined, options: WebhookOptions): Promise<Failure | undefined> {
  const timestamp = String(Math.floor(options.clock.now() / 1000));
  const signed = secret === undefined ? {} : { [TIMESTAMP_HEADER]: timestamp, [SIGNATURE_HEADER]: signatureOf(secret, timestamp, body) };
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json; charset=utf-8', 'user-agent': 'handrail', ...signed },
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(options.timeoutMs ?? TIMEOUT_MS),
    });
    await response.body?.cancel();
    if (response.ok) return undefined;
    const { status } = response;
    return { what: `answered ${status}`, again: status === 408 || status === 429 || status >= 500 };
  } catch (error) {
    // The error's own text may hold the address.
    const late = error instanceof Error && error.name === 'TimeoutError';
    return { what: late ? 'did not answer in time' : 'could not be reached', again: true };
  }
}
