import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

/** Compares in a time that tells nothing of the secret, its length included. */
export function sameSecret(given: string, expected: string): boolean {
  return timingSafeEqual(digest(given), digest(expected));
}

/** A value that only the holder of the secret can make, and that does not show it. */
export function derive(secret: string, purpose: string): string {
  return createHmac('sha256', secret).update(purpose).digest('base64url');
}

/** The token of `Authorization: Bearer <token>`; undefined for anything else. */
export function bearerOf(request: Request): string | undefined {
  const match = /^Bearer +([\x21-\x7e]{1,4096})$/i.exec(request.headers.get('authorization') ?? '');
  return match?.[1];
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text, 'utf8').digest();
}
