import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto';
import { SignatureV4 } from '@smithy/signature-v4';
import { HandrailError } from '../core/errors.ts';
import type { Credential } from './sender.ts';

/** Of AWS: a role's have a session token too. */
export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

export interface SigningOptions {
  readonly region: string;
  /** Asked whenever they are needed; remembers them as long as they hold. */
  credentials(): Promise<AwsCredentials>;
}

/** Signs every request as API Gateway wants it of callers that IAM knows (AWS Signature 4, service `execute-api`). */
export function signedWith({ region, credentials }: SigningOptions): Credential {
  const signer = new SignatureV4({ service: 'execute-api', region, credentials: () => known(credentials), sha256: Sha256 });
  return async ({ method, url, headers, body }) => {
    const signed = await signer.sign({
      method,
      protocol: url.protocol,
      hostname: url.hostname,
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      headers: { ...headers, host: url.host },
      body,
    });
    // The host is what the request goes to; nobody else may set it.
    const { host: _host, ...rest } = signed.headers;
    return rest;
  };
}

async function known(credentials: SigningOptions['credentials']): Promise<AwsCredentials> {
  try {
    return await credentials();
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new HandrailError('UNAUTHORIZED', `this server takes signed requests, and there are no AWS credentials to sign with: ${why}`, {
      cause,
      suggestions: [
        'Sign in with the AWS CLI (aws sso login), or set AWS_PROFILE or AWS_ACCESS_KEY_ID.',
        'For a token or a secret set HANDRAIL_SECRET.',
      ],
    });
  }
}

/** Node's own, in the shape that the signer takes: a digest, or with a secret an HMAC. */
class Sha256 {
  #hash: Hash | Hmac;
  readonly #make: () => Hash | Hmac;

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#make = () => (secret === undefined ? createHash('sha256') : createHmac('sha256', bytesOf(secret)));
    this.#hash = this.#make();
  }
  update(chunk: Uint8Array): void {
    this.#hash.update(chunk);
  }
  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }
  reset(): void {
    this.#hash = this.#make();
  }
}

function bytesOf(data: string | ArrayBuffer | ArrayBufferView): Uint8Array {
  if (typeof data === 'string') return Buffer.from(data);
  return ArrayBuffer.isView(data) ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength) : new Uint8Array(data);
}
