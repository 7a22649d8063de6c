import type { Principal } from '../principal.ts';
import { HttpError } from '../problem.ts';
import { bearerOf, sameSecret } from './secret.ts';
import type { AuthStrategy } from './strategy.ts';

export interface BearerEntry {
  readonly secret: string;
  readonly principal: Principal;
}

/** Shared secrets, for emulators that have no authorizer. Never for a deployment that others can reach. */
export function bearerAuth(entries: readonly BearerEntry[]): AuthStrategy {
  if (entries.length === 0 || entries.some(({ secret }) => secret.length < 16))
    throw new TypeError('a bearer secret has at least 16 characters');
  return {
    admit() {},
    authenticate(request) {
      const token = bearerOf(request);
      const entry = token === undefined ? undefined : entries.find(({ secret }) => sameSecret(token, secret));
      if (entry === undefined) throw unauthorized();
      return entry.principal;
    },
    console: { signIn: 'bearer' },
  };
}

export function unauthorized(): HttpError {
  return new HttpError('UNAUTHORIZED', 'send the secret as Authorization: Bearer', { headers: { 'www-authenticate': 'Bearer' } });
}
