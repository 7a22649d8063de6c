import { generateKeyPairSync, sign } from 'node:crypto';
import { type LoopbackServer, loopbackServer } from './loopback-server.ts';

const KEY_ID = 'key-of-the-suite';

/** Claims that a token has besides, or instead of, the good ones. */
type Claims = Readonly<Record<string, unknown>>;

export interface TokenIssuer {
  readonly url: string;
  /** A token signed by the issuer's key. @param claims over `iss`, `aud`, `iat`, `exp` that hold */
  token(claims: Claims): string;
  /** The same token, signed by a key that is not the issuer's. */
  forged(claims: Claims): string;
  close(): Promise<void>;
}

/** An OpenID Connect provider on loopback, as far as a JWT authorizer asks one: discovery and the public key. */
export async function tokenIssuer(audience: string): Promise<TokenIssuer> {
  const own = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const other = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const keys = [{ ...own.publicKey.export({ format: 'jwk' }), kid: KEY_ID, use: 'sig', alg: 'RS256' }];
  const server: LoopbackServer = await loopbackServer((_count, { path }) => ({
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(path.endsWith('/jwks') ? { keys } : { issuer: server.url, jwks_uri: `${server.url}/jwks` }),
  }));
  const signed = (claims: Claims, key: typeof own.privateKey): string => {
    const now = Math.floor(Date.now() / 1000);
    const good = { iss: server.url, aud: audience, iat: now - 5, exp: now + 3600 };
    const body = [
      { alg: 'RS256', typ: 'JWT', kid: KEY_ID },
      { ...good, ...claims },
    ]
      .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.');
    return `${body}.${sign('RSA-SHA256', Buffer.from(body), key).toString('base64url')}`;
  };
  return {
    url: server.url,
    token: (claims) => signed(claims, own.privateKey),
    forged: (claims) => signed(claims, other.privateKey),
    close: () => server.close(),
  };
}
