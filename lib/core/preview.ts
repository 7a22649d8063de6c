import { isJsonObject, type Json, type JsonObject } from './json.ts';
import { PREVIEW_CHARACTERS } from './limits.ts';

/** What stands in place of a secret. */
export const MASK = '***';

/** What looks like a secret, once: patterns whose match is shown as `***`. */
const SECRETS: readonly RegExp[] = [
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g,
  /(?<![A-Za-z0-9])sk-[A-Za-z0-9_-]{16,}/g,
  /\b[sr]k_(?:live|test)_[A-Za-z0-9]{10,}/g,
  /\bgh[pousr]_[A-Za-z0-9]{20,}/g,
  /\bgithub_pat_[A-Za-z0-9_]{20,}/g,
  /\bglpat-[A-Za-z0-9_-]{16,}/g,
  /\bAIza[A-Za-z0-9_-]{30,}/g,
  /\b(?:gsk|hf|npm|xai)_[A-Za-z0-9]{20,}/g,
  /\btvly-[A-Za-z0-9-]{16,}/g,
  /\bhttps:\/\/hooks\.slack\.com\/[A-Za-z0-9/_-]+/g,
  /\bxox[abprs]-[A-Za-z0-9-]{10,}/g,
  /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*/g,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  /\bBearer\s+[A-Za-z0-9._~+/=-]{12,}/gi,
  /\bBasic\s+[A-Za-z0-9+/]{16,}={0,2}/g,
];
/** Patterns of which only what follows the first group is a secret: the password of an address, an opaque value beside a name that says so. */
const SECRETS_AFTER: readonly RegExp[] = [
  /\b([a-z][a-z0-9+.-]{0,15}:\/\/[^\s/:@]{0,100}:)[^\s/@]{1,200}(?=@[\w[])/gi,
  /((?:password|passwd|secret|api[_-]?key|access[_-]?key|token|credential)[\w-]{0,20}\s{0,3}[=:]\s{0,3}["']?)(?![/~])[A-Za-z0-9_~%+/-]{16,}={0,2}/gi,
];
const SECRET_FIELD =
  /("(?:[a-z0-9_-]*(?:password|passwd|secret|api[_-]?key|access[_-]?key|token|authorization|credential)[a-z0-9_-]*)"\s*:\s*")((?:[^"\\]|\\.)*)(?="|$)/gi;

/** Text with everything that looks like a secret replaced. */
export function maskSecrets(text: string): string {
  let masked = text.replace(SECRET_FIELD, '$1***');
  for (const pattern of SECRETS_AFTER) masked = masked.replace(pattern, `$1${MASK}`);
  for (const pattern of SECRETS) masked = masked.replace(pattern, MASK);
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

function isSecretField(key: string, value: Json): boolean {
  return typeof value === 'string' && value !== '' && maskSecrets(`${JSON.stringify(key)}:"x"`).endsWith(`:"${MASK}"`);
}

/** The same for what is shown whole: of the same shape, with the same keys. */
export const maskAll = <T>(value: T): T => maskJson(JSON.parse(JSON.stringify(value)) as Json) as T;

/** The first 500 characters for people, secrets masked, no character parted (design section 10). */
export function previewOf(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  const masked = maskSecrets(text.slice(0, 8 * PREVIEW_CHARACTERS));
  return masked.length <= PREVIEW_CHARACTERS && text.length <= 8 * PREVIEW_CHARACTERS
    ? masked.toWellFormed()
    : `${masked.slice(0, PREVIEW_CHARACTERS - 1).toWellFormed()}…`;
}
