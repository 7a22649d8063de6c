import { isIP } from 'node:net';
import { HandrailError } from '../../core/errors.ts';
import { isDomainAllowed } from '../../core/hands/permissions.ts';
import { abortable } from './abortable.ts';
import { isPublicAddress } from './public-address.ts';

/** What may be reached; `security.network` of the configuration, or a skill's own permission. */
export interface NetworkPolicy {
  /** `a.com` = that host, `*.a.com` = any depth below, `*` = all (design 6.1). */
  readonly allowedDomains: readonly string[];
  /** @default 80 and 443 */
  readonly allowedPorts?: readonly number[] | undefined;
}

/** All addresses of a host name; none when there is no such name. Throws when it cannot be told now. */
export type Resolve = (host: string) => Promise<readonly string[]>;

const DEFAULT_PORTS: readonly number[] = [80, 443];
const SCHEME_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };
/** Names that mean the own network wherever they are asked, and a metadata service with a public address. */
const INTERNAL_NAMES = /(?:^|\.)(?:localhost|local|internal|intranet|lan|home\.arpa|localdomain)$|^metadata\.platformequinix\.com$/;
const SHOWN_CHARACTERS = 100;

/** Throws INVALID_ARGUMENTS for what is no absolute URL. */
export function parseUrl(text: string): URL {
  if (!URL.canParse(text)) {
    throw new HandrailError('INVALID_ARGUMENTS', `${JSON.stringify(shown(text))} is not a URL.`, {
      suggestions: ['Give the whole address, beginning with https:// or http://.'],
    });
  }
  return new URL(text);
}

/**
 * The addresses that may be connected to for `url`, after scheme, credentials, port, allow-list, name and every address were
 * checked in this order (design 6.6): a host that is not listed is never looked up. One bad address among several refuses
 * them all, since which one is used is not ours to say. PERMISSION_DENIED names what is wrong and never an address.
 */
export async function checkDestination(url: URL, policy: NetworkPolicy, resolve: Resolve, signal: AbortSignal): Promise<readonly string[]> {
  const host = checkUrl(url, policy);
  const addresses = isIP(host) === 0 ? await lookUp(host, resolve, signal) : [host];
  if (!addresses.every(isPublicAddress)) refuse(`${shown(url.host)} is not on the public internet`);
  return addresses;
}

/** The host to look up: an address without brackets, or a name without the dot of the root. */
function checkUrl(url: URL, policy: NetworkPolicy): string {
  const schemePort = SCHEME_PORTS[url.protocol];
  if (schemePort === undefined) return refuse(`only http and https are allowed, not ${shown(url.protocol)}`);
  if (url.username !== '' || url.password !== '') return refuse('a URL with a user name or password in it is never sent');
  const port = url.port === '' ? schemePort : Number(url.port);
  if (!(policy.allowedPorts ?? DEFAULT_PORTS).includes(port)) return refuse(`port ${port} is not allowed`);
  if (port !== schemePort && DEFAULT_PORTS.includes(port)) return refuse(`port ${port} is not the one of ${url.protocol}//`);
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  // The allow-list looks past one final dot too: with two of them it would judge another name than the one looked up.
  if (host.endsWith('.') || host.includes('..')) return refuse(`${shown(host)} is no host name`);
  if (!isDomainAllowed(host, policy.allowedDomains)) return refuse(`${shown(host)} is not among the allowed domains`);
  if (isIP(host) === 0 && (!host.includes('.') || INTERNAL_NAMES.test(host))) return refuse(`${shown(host)} is not on the public internet`);
  return host;
}

async function lookUp(host: string, resolve: Resolve, signal: AbortSignal): Promise<readonly string[]> {
  const addresses = await abortable(resolve(host), signal).catch((cause: unknown) => {
    if (cause instanceof HandrailError) throw cause;
    throw new HandrailError('NETWORK_ERROR', `${shown(host)} could not be looked up.`, { cause });
  });
  if (addresses.length > 0) return addresses;
  throw new HandrailError('NETWORK_ERROR', `There is no host ${shown(host)}, or it has no address.`, {
    suggestions: ['Check how the host is spelled, or search for the right address.'],
  });
}

function refuse(why: string): never {
  throw new HandrailError('PERMISSION_DENIED', `The address is refused: ${why}.`, {
    suggestions: ['Use an address that is allowed, or tell the user what is not.'],
  });
}

function shown(text: string): string {
  return text.length <= SHOWN_CHARACTERS ? text : `${text.slice(0, SHOWN_CHARACTERS).toWellFormed()}…`;
}
