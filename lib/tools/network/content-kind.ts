import { MIMEType } from 'node:util';

/** What a response is, for a reader. `unknown`: its body has to tell. */
export type ContentKind = 'html' | 'json' | 'text' | 'pdf' | 'binary' | 'unknown';

export interface ContentType {
  /** Such as `text/html`; empty when it is missing or cannot be read. */
  readonly type: string;
  readonly charset: string | undefined;
  readonly kind: ContentKind;
}

const PDF = ['application/pdf', 'application/x-pdf'];
const HTML = ['text/html', 'application/xhtml+xml'];
/** What servers say of files they know nothing of. */
const UNKNOWN = ['', 'application/octet-stream', 'binary/octet-stream', 'application/x-download', 'application/force-download'];
const JSON_TYPE = /^(?:application|text)\/(?:[\w.-]+\+)?json$/;
const TEXT_TYPE =
  /^(?:text\/|(?:application|image|model)\/(?:[\w.-]+\+)?(?:xml|yaml)$|application\/(?:(?:x-)?(?:javascript|ecmascript|ndjson|yaml|sh|sql|toml|tex|httpd-php|python)|json-seq|graphql|rtf|jsonlines|ld\+json)$)/;

/** Reads a `content-type` header. */
export function contentType(header: string | undefined): ContentType {
  const mime = parse(header ?? '');
  const type = mime?.essence ?? '';
  return { type, charset: mime?.params.get('charset') ?? undefined, kind: kindOf(type) };
}

function parse(header: string): MIMEType | undefined {
  try {
    return new MIMEType(header);
  } catch {
    return undefined;
  }
}

function kindOf(type: string): ContentKind {
  if (HTML.includes(type)) return 'html';
  if (JSON_TYPE.test(type)) return 'json';
  if (PDF.includes(type)) return 'pdf';
  if (UNKNOWN.includes(type)) return 'unknown';
  return TEXT_TYPE.test(type) ? 'text' : 'binary';
}

/** Bytes of the beginning that are looked at. */
const SNIFFED = 4_096;

/** What a body is by its first bytes, where the header may be wrong or silent. Text declared as such stays so. */
export function sniff(body: Uint8Array, declared: ContentKind): ContentKind {
  const start = body.subarray(0, SNIFFED);
  const ascii = Buffer.from(start).toString('latin1').trimStart().toLowerCase();
  if (ascii.startsWith('%pdf-')) return 'pdf';
  if (declared !== 'unknown') return declared;
  if (!isText(start)) return 'binary';
  return /^(?:<!doctype html|<html|<head|<body)/.test(ascii) ? 'html' : 'text';
}

/** UTF-8 without NUL, or UTF-16 that says so. A character may be cut at the end. */
function isText(bytes: Uint8Array): boolean {
  if (byteOrder(bytes) !== undefined) return true;
  if (bytes.includes(0)) return false;
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}

/** `<meta charset=…>` and `<meta http-equiv content="…; charset=…">`, or the encoding of an XML declaration. */
const DECLARED_IN_TEXT = /<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w-]{1,40})|^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w-]{1,40})/i;

/** The text of a body: by byte order mark, header, its own declaration, else UTF-8. What does not decode becomes U+FFFD. */
export function decodeText(body: Uint8Array, charset: string | undefined, kind: ContentKind): string {
  const start = Buffer.from(body.subarray(0, 1_024)).toString('latin1');
  const inText = kind === 'html' || kind === 'text' ? DECLARED_IN_TEXT.exec(start) : null;
  for (const label of [byteOrder(body), charset, inText?.[1] ?? inText?.[2], 'utf-8']) {
    const decoder = decoderFor(label);
    if (decoder !== undefined) return decoder.decode(body);
  }
  return '';
}

function decoderFor(label: string | undefined): InstanceType<typeof TextDecoder> | undefined {
  if (label === undefined) return undefined;
  try {
    return new TextDecoder(label);
  } catch {
    return undefined;
  }
}

function byteOrder([first, second, third]: Uint8Array): string | undefined {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  return first === 0xef && second === 0xbb && third === 0xbf ? 'utf-8' : undefined;
}
