import { sha256 } from '../../hash.ts';
import { suspensionIdSchema } from '../../ids.ts';
import type { Clock, Random } from '../../ports/clock.ts';
import type { LinkStore } from '../../ports/link-store.ts';
import { type Link, MAX_LINKS } from './suspension.ts';

/** 256 bits of chance (design 5.3). */
const TOKEN_BYTES = 32;
/** Wrong tokens that are answered, for one suspension in one span of time (design 5.3). */
export const LINK_TRIES = 20;
/** ms of a span. After it the link works again: whoever knows only the id can lock people out for no longer. */
export const LINK_SPAN_MS = 15 * 60_000;
/** ms for which a link goes on to show what became of it after the time to decide is over. */
const SHOWN_AFTER_MS = 7 * 24 * 60 * 60_000;

/** A new link to a suspension. The token goes to people and is kept nowhere; the suspension keeps the rest. */
export function newLink(random: Pick<Random, 'bytes'>, suspensionId: string, decideUntil: number): { token: string; link: Link } {
  const token = Array.from(random.bytes(TOKEN_BYTES), (byte) => byte.toString(16).padStart(2, '0')).join('');
  return { token, link: { hash: linkHash(suspensionId, token), expiresAt: decideUntil + SHOWN_AFTER_MS } };
}

export interface LinkDeps {
  readonly links: LinkStore;
  readonly clock: Pick<Clock, 'now'>;
}

/** `by`: how the audit names who came by the link. `locked`: too many wrong tokens; tried again after `retryAfterMs` it may be right. */
export type LinkCheck = { state: 'open'; by: string } | { state: 'wrong' } | { state: 'locked'; retryAfterMs: number };

/**
 * Whether `token` opens the suspension (design 5.3). An id that nobody has is answered as a wrong token is, by the same
 * requests and comparisons, and counted alike: neither answers nor their time tell which ids exist.
 */
export async function checkLink({ links, clock }: LinkDeps, suspensionId: string, token: string): Promise<LinkCheck> {
  if (!suspensionIdSchema.safeParse(suspensionId).success) return { state: 'wrong' };
  const now = clock.now();
  const span = Math.floor(now / LINK_SPAN_MS);
  const ends = (span + 1) * LINK_SPAN_MS;
  const locked = { state: 'locked', retryAfterMs: ends - now } as const;
  const stored = await links.readLinks(suspensionId, span);
  if (stored.tries >= LINK_TRIES) return locked;
  const hash = linkHash(suspensionId, token);
  if (opens(stored.links, hash, now)) return { state: 'open', by: `link:${hash.slice(0, 8)}` };
  const tries = await links.countTry(suspensionId, span, Math.ceil(ends / 1000));
  return tries > LINK_TRIES ? locked : { state: 'wrong' };
}

const linkHash = (suspensionId: string, token: string): string => sha256(`${suspensionId}\n${token}`);
const NO_LINK: Link = { hash: '-'.repeat(64), expiresAt: 0 };

/** Always compares as many hashes, each to its end. */
function opens(links: readonly Link[], hash: string, now: number): boolean {
  let found = false;
  for (let index = 0; index < MAX_LINKS; index++) {
    const link = links[index] ?? NO_LINK;
    const same = isSame(link.hash, hash);
    found = (same && link.expiresAt > now) || found;
  }
  return found;
}

function isSame(a: string, b: string): boolean {
  let difference = a.length ^ b.length;
  for (let index = 0; index < b.length; index++) difference |= a.charCodeAt(index) ^ b.charCodeAt(index);
  return difference === 0;
}
