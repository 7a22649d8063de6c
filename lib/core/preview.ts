import { isJsonObject, type Json, type JsonObject } from './json.ts';
import { PREVIEW_CHARACTERS } from './limits.ts';

/** What looks like a secret, once: patterns whose match is shown as `***`. */
const SECRETS: readonly RegExp[] = [
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g,
  /\bsk-[A-Za-z0-9_-]{16,}/g,
  /\bgh[pousr]_[A-Za-z0-9]{20,}/g,
  /\bxox[abprs]-[A-Za-z0-9-]{10,}/g,
  /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*/g,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  /\bBearer\s+[A-Za-z0-9._~+/=-]{12,}/gi,
];
const SECRET_FIELD =
  /("(?:[a-z0-9_-]*(?:password|passwd|secret|api[_-]?key|access[_-]?key|token|authorization|credential)[a-z0-9_-]*)"\s*:\s*")((?:[^"\\]|\\.)*)(?="|$)/gi;

/** Text with everything that looks like a secret replaced. */
export function maskSecrets(text: string): string {
  let masked = text.replace(SECRET_FIELD, '$1***');
  for (const pattern of SECRETS) masked = masked.replace(pattern, '***');
  return masked;
}

/** The same for a JSON value: every text in it, and every text under a name that says it is a secret. */
export function maskJson(value: JsonObject): JsonObject;
export function maskJson(value: Json): Json;
export function maskJson(value: Json): Json {
  if (typeof value === 'string') return maskSecrets(value);
  if (Array.isArray(value)) return value.map((item) => maskJson(item));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, isSecretField(key, item) ? MASK : maskJson(item)]));
}

/** What stands in place of a secret. */
export const MASK = '***';

function isSecretField(key: string, value: Json): boolean {
  return typeof value === 'string' && value !== '' && maskSecrets(`${JSON.stringify(key)}:"x"`).endsWith(`:"${MASK}"`);
}

/** The first 500 characters for people, secrets masked, no character parted (design section 10). */
export function previewOf(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  const masked = maskSecrets(text.slice(0, 8 * PREVIEW_CHARACTERS));
  return masked.length <= PREVIEW_CHARACTERS && text.length <= 8 * PREVIEW_CHARACTERS
    ? masked.toWellFormed()
    : `${masked.slice(0, PREVIEW_CHARACTERS - 1).toWellFormed()}…`;
}
