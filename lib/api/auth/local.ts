import { randomBytes } from 'node:crypto';
import { everyPermission, type Principal } from '../principal.ts';
import { HttpError } from '../problem.ts';
import { unauthorized } from './bearer.ts';
import { bearerOf, derive, sameSecret } from './secret.ts';
import type { AuthStrategy, CookieSession } from './strategy.ts';

export interface LocalAuthOptions {
  /** Of this process's data directory (`server.json`); at least 128 bits of chance. */
  readonly secret: string;
  /** The port that the server listens on, once it does. */
  port(): number;
  /** @default local */
  readonly tenant?: string;
  /** There are approval pages here. @default true */
  readonly approvalPages?: boolean;
}

export interface LocalAuth extends AuthStrategy {
  readonly console: CookieSession;
  /** The key of a link that signs one browser in, once: `http://127.0.0.1:<port>/?key=<key>`. */
  ticket(): string;
}

/** Links that nobody opened are forgotten, oldest first. */
const MAX_TICKETS = 16;

/**
 * The laptop rules of design section 10. Other pages in the user's browser are the attackers: they can send requests to
 * 127.0.0.1, but cannot choose Host, Origin or Sec-Fetch-Site, nor read what we answer. A rebound name fails by Host, a
 * form or a fetch of another origin by Origin, an image or script by Sec-Fetch-Site, and each of them by the secret or
 * the cookie too. Browsers send cookies of 127.0.0.1 to every port, so the cookie is not the secret but derived from it.
 */
export function localAuth(options: LocalAuthOptions): LocalAuth {
  const owner: Principal = { tenant: options.tenant ?? 'local', principal: 'local:owner', permissions: everyPermission };
  const cookieValue = derive(options.secret, 'handrail console');
  const cookieName = () => `handrail-${options.port()}`;
  const setCookie = () => `${cookieName()}=${cookieValue}; Path=/; HttpOnly; SameSite=Strict`;
  const tickets = new Set<string>();

  return {
    admit(request, page) {
      const hosts = hostsOf(options.port());
      const host = request.headers.get('host')?.toLowerCase() ?? '';
      if (!hosts.includes(host) || !hosts.includes(new URL(request.url).host))
        throw refused('this server answers only to its own address', 'host');
      const origin = request.headers.get('origin');
      if (origin !== null && origin !== `http://${host}` && !(page && isOwnPage(request, origin)))
        throw refused('requests of other web pages are refused', 'origin');
      if (!fromOurselves(request) && !(page && isNavigation(request)))
        throw refused('requests of other web pages are refused', 'sec-fetch-site');
    },
    authenticate(request) {
      const token = bearerOf(request);
      const known = request.headers.has('authorization')
        ? token !== undefined && sameSecret(token, options.secret)
        : cookies(request, cookieName()).some((value) => sameSecret(value, cookieValue));
      if (!known) throw unauthorized();
      return owner;
    },
    console: {
      signIn: 'cookie',
      approvalPages: options.approvalPages ?? true,
      redeem: (key) => (tickets.delete(derive(options.secret, key)) ? setCookie() : undefined),
      exchange: (secret) => (sameSecret(secret, options.secret) ? setCookie() : undefined),
    },
    ticket() {
      const key = randomBytes(24).toString('base64url');
      tickets.add(derive(options.secret, key));
      for (const oldest of tickets) if (tickets.size > MAX_TICKETS) tickets.delete(oldest);
      return key;
    },
  };
}

/** The names under which the server may be called, as a browser writes them: without the port when it is HTTP's own. */
function hostsOf(port: number): string[] {
  return ['127.0.0.1', 'localhost', '[::1]'].map((name) => (port === 80 ? name : `${name}:${port}`));
}

function refused(message: string, field: string): HttpError {
  return new HttpError('FORBIDDEN', message, { field });
}

/** Browsers say where a request comes from; what says nothing is no browser, or an old one that Origin must stop. */
function fromOurselves(request: Request): boolean {
  const site = request.headers.get('sec-fetch-site');
  return site === null || site === 'same-origin' || site === 'none';
}

/** A form of a page of ours that sends no referrer: browsers then keep its origin back too, and say `null`. */
function isOwnPage(request: Request, origin: string): boolean {
  return origin === 'null' && request.headers.get('sec-fetch-site') === 'same-origin';
}

/** A person following a link: shows a page, sends no SameSite=Strict cookie, changes nothing. */
function isNavigation(request: Request): boolean {
  const safe = request.method === 'GET' || request.method === 'HEAD';
  return safe && request.headers.get('sec-fetch-mode') === 'navigate' && request.headers.get('sec-fetch-dest') === 'document';
}

/** Every cookie of that name: another port's server may have set one of its own. */
function cookies(request: Request, name: string): string[] {
  return (request.headers.get('cookie') ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1));
}
