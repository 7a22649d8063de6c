import { createHash } from 'node:crypto';
import { canonicalJson, type Json } from './json.ts';

export function sha256Bytes(text: string): Uint8Array {
  return createHash('sha256').update(text).digest();
}

/** SHA-256 of text, hex. */
export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** SHA-256 of the canonical JSON of a value, hex: equal values, equal hash. */
export function hashJson(value: Json): string {
  return sha256(canonicalJson(value));
}
