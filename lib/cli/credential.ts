import type { Environment } from './environment.ts';
import { usageError } from './failure.ts';
import { bearer, type Credential } from './sender.ts';

/** An HTTP API's own address, which names its region. */
const EXECUTE_API = /^[a-z0-9-]+\.execute-api\.([a-z0-9-]+)\.amazonaws\.com(?:\.cn)?$/;

/**
 * How to show a server elsewhere who asks: HANDRAIL_SECRET (a secret, or a token) where it is set, else a signature with
 * the AWS credentials of this environment, for API Gateway's own addresses and where HANDRAIL_SIGN_REGION says so.
 * Errors: a usage error when neither is possible.
 */
export async function credentialFor(url: string, environment: Environment): Promise<Credential> {
  if (environment.HANDRAIL_SECRET !== undefined) return bearer(environment.HANDRAIL_SECRET);
  const { protocol, hostname } = new URL(url);
  const region = environment.HANDRAIL_SIGN_REGION ?? (protocol === 'https:' ? EXECUTE_API.exec(hostname)?.[1] : undefined);
  if (region === undefined)
    throw usageError(`HANDRAIL_SECRET is not set: ${url} needs its secret or a token; HANDRAIL_SIGN_REGION if it takes signed requests`);
  const [{ signedWith }, { defaultProvider }] = await Promise.all([import('./signature.ts'), import('@aws-sdk/credential-provider-node')]);
  return signedWith({ region, credentials: defaultProvider() });
}
