import type { Json } from '../core/json.ts';
import { REQUEST_BYTES } from '../core/limits.ts';
import { HttpError } from './problem.ts';

/** Deeper JSON is nobody's request, and recursive readers would run out of stack on it. */
const MAX_DEPTH = 64;
const FORM_TYPE = 'application/x-www-form-urlencoded';

/**
 * The JSON body of a request; undefined when there is none and `optional` says that is fine.
 * Errors: 415 (not application/json; a cookie's write without the type), PAYLOAD_TOO_LARGE, BAD_REQUEST (not UTF-8, not JSON, too deep, `__proto__`).
 */
export async function readJsonBody(request: Request, optional: boolean): Promise<Json | undefined> {
  const typed = checkType(request);
  const bytes = await readBytes(request);
  if (bytes.length === 0 && optional && (typed || !request.headers.has('cookie'))) return undefined;
  if (!typed) throw unsupported('send the body as application/json', 'content-type');
  if (bytes.length === 0) throw new HttpError('BAD_REQUEST', 'the body is empty; send a JSON object', { field: 'body' });
  return parseJson(decode(bytes));
}

/** Any JSON, as deep as a request may be. Errors: BAD_REQUEST (not JSON, with the position; too deep; `__proto__`). */
export function parseJson(text: string): Json {
  const value = parse(text);
  checkShape(value);
  return value;
}

/** The fields of a page's form. Errors: 415, PAYLOAD_TOO_LARGE, BAD_REQUEST (not UTF-8). */
export async function readFormBody(request: Request): Promise<URLSearchParams> {
  const type = request.headers.get('content-type')?.split(';', 1)[0]?.trim().toLowerCase();
  if (type !== FORM_TYPE) throw unsupported(`send the form as ${FORM_TYPE}`, 'content-type');
  return new URLSearchParams(decode(await readBytes(request)));
}

/** The body as bytes. Errors: 415 (another content type), PAYLOAD_TOO_LARGE beyond `limit`. */
export async function readRawBody(request: Request, type: string, limit: number): Promise<Uint8Array> {
  const sent = request.headers.get('content-type')?.split(';', 1)[0]?.trim().toLowerCase();
  // The type is asked for so that no form of another page can send one (see `readJsonBody`).
  if (sent !== type) throw unsupported(`send the file as ${type}`, 'content-type');
  const encoding = request.headers.get('content-encoding');
  if (encoding !== null && encoding.trim().toLowerCase() !== 'identity')
    throw unsupported('send the body without content-encoding', 'content-encoding');
  return readBytes(request, limit);
}

/** False when there is no content type; throws when it is another than JSON in UTF-8. */
function checkType(request: Request): boolean {
  const encoding = request.headers.get('content-encoding');
  if (encoding !== null && encoding.trim().toLowerCase() !== 'identity')
    throw unsupported('send the body without content-encoding', 'content-encoding');
  const header = request.headers.get('content-type');
  if (header === null || header.trim() === '') return false;
  const [essence, ...parameters] = header.split(';').map((part) => part.trim().toLowerCase());
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))?.slice('charset='.length);
  if (essence !== 'application/json' || (charset !== undefined && charset.replaceAll('"', '') !== 'utf-8'))
    throw unsupported('send the body as application/json in UTF-8', 'content-type');
  return true;
}

function unsupported(message: string, field: string): HttpError {
  return new HttpError('BAD_REQUEST', message, { status: 415, field, headers: { accept: 'application/json' } });
}

/** Counts while it reads, since a length may be missing or a lie. */
async function readBytes(request: Request, limit = REQUEST_BYTES): Promise<Uint8Array> {
  if (Number(request.headers.get('content-length') ?? 0) > limit) throw tooLarge(limit);
  if (request.body === null) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let length = 0;
  const reader = request.body.getReader();
  for (;;) {
    const { done, value } = await reader.read().catch((cause: unknown) => {
      throw new HttpError('BAD_REQUEST', 'the body ended too early', { field: 'body', cause });
    });
    if (done) break;
    length += value.length;
    if (length > limit) throw tooLarge(limit);
    chunks.push(value);
  }
  const bytes = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.length;
  }
  return bytes;
}

/** The rest of the body stays unread, so the connection cannot be used again. */
function tooLarge(limit: number): HttpError {
  return new HttpError('PAYLOAD_TOO_LARGE', `the body is over ${limit} bytes`, { field: 'body', headers: { connection: 'close' } });
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new HttpError('BAD_REQUEST', 'the body is not valid UTF-8', { field: 'body', cause });
  }
}

function parse(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (cause) {
    const position = /at position \d+(?: \(line \d+ column \d+\))?/.exec(cause instanceof Error ? cause.message : '');
    throw new HttpError('BAD_REQUEST', `the body is not valid JSON${position ? ` ${position[0]}` : ''}`, { field: 'body', cause });
  }
}

/** Walks without recursion. `__proto__` is refused at any depth: readers that copy objects would drop it or obey it. */
function checkShape(value: Json): void {
  const stack: { value: Json; depth: number; path: string }[] = [{ value, depth: 1, path: '' }];
  for (let item = stack.pop(); item !== undefined; item = stack.pop()) {
    if (typeof item.value !== 'object' || item.value === null) continue;
    if (item.depth > MAX_DEPTH) throw new HttpError('BAD_REQUEST', `the body is nested deeper than ${MAX_DEPTH} levels`, { field: 'body' });
    for (const [key, child] of Object.entries(item.value)) {
      const path = item.path === '' ? key : `${item.path}.${key}`;
      if (key === '__proto__') throw new HttpError('BAD_REQUEST', 'a key named __proto__ is not allowed', { field: path });
      if (typeof child === 'object' && child !== null) stack.push({ value: child, depth: item.depth + 1, path });
    }
  }
}
