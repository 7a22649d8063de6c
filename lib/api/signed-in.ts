import type { Principal } from './principal.ts';
import { HttpError } from './problem.ts';

/** The caller of a route that is not public. */
export function signedInAs(principal: Principal | undefined): Principal {
  if (principal === undefined) throw new HttpError('UNAUTHORIZED', 'sign in first');
  return principal;
}
