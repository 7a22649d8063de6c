import type { Principal } from '../principal.ts';

/** How callers are known. The composition root chooses one; routes know nothing of it. */
export interface AuthStrategy {
  /**
   * Looks at every request before its route does, public ones too. `page` = a page that may be opened by a link.
   * Errors: FORBIDDEN.
   */
  admit(request: Request, page: boolean): void;
  /** Errors: UNAUTHORIZED (unknown), FORBIDDEN (known, but of no tenant). */
  authenticate(request: Request, env: unknown): Principal;
  /**
   * How the console page signs in: by a cookie that we set, or by a bearer token that the page keeps in memory. `signature`:
   * it cannot, since a browser has no AWS credentials; `handrail console` serves it where there are some.
   */
  readonly console: { readonly signIn: 'bearer' | 'signature' } | CookieSession;
}

/** Both answer the Set-Cookie header, or undefined when the proof is wrong. */
export interface CookieSession {
  readonly signIn: 'cookie';
  /** Whoever has signed in may open approval pages too. */
  readonly approvalPages: boolean;
  /** The key of a one-time link. */
  redeem(key: string): string | undefined;
  /** The secret itself. */
  exchange(secret: string): string | undefined;
}
