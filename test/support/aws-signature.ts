import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

export interface SigningKey {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

const hash = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex');
const hmac = (key: string | Buffer, data: string): Buffer => createHmac('sha256', key).update(data).digest();
/** RFC 3986, as AWS's documentation of Signature 4 spells values. */
const escaped = (text: string): string =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);

/**
 * Who signed a request, as a service of AWS would find it: the key whose signature it is, undefined for none. Written from
 * the documentation of Signature 4 and not with the signer that is tested: canonical request, string to sign, signing key.
 */
export function signerOf(request: IncomingMessage, body: Buffer, service: string, keys: readonly SigningKey[]): SigningKey | undefined {
  const header = (name: string): string => String(request.headers[name] ?? '');
  const match =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/.exec(
      header('authorization'),
    );
  const [, accessKeyId, day = '', region = '', named, signedHeaders = '', signature = ''] = match ?? [];
  const key = keys.find((one) => one.accessKeyId === accessKeyId);
  if (!key || named !== service || header('x-amz-security-token') !== (key.sessionToken ?? '')) return undefined;
  const signed = signedHeaders.split(';');
  if (!['host', 'x-amz-date'].every((name) => signed.includes(name)) || header('x-amz-content-sha256') !== hash(body)) return undefined;
  const { pathname, search } = new URL(`http://host${request.url}`);
  const query = search
    .slice(1)
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => pair.split('=').map((part) => escaped(decodeURIComponent(part))))
    .map(([name, value = '']) => `${name}=${value}`)
    .sort();
  const canonical = [
    request.method,
    pathname.split('/').map(escaped).join('/'),
    query.join('&'),
    ...signed.map((name) => `${name}:${header(name).trim().replaceAll(/ +/g, ' ')}`),
    '',
    signedHeaders,
    hash(body),
  ].join('\n');
  const date = header('x-amz-date');
  if (Math.abs(Date.parse(date.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, '$1-$2-$3T$4:$5:$6Z')) - Date.now()) > 300_000) return undefined;
  const scope = `${day}/${region}/${service}/aws4_request`;
  const signing = [day, region, service, 'aws4_request'].reduce<string | Buffer>(
    (made, part) => hmac(made, part),
    `AWS4${key.secretAccessKey}`,
  );
  const expected = hmac(signing as Buffer, ['AWS4-HMAC-SHA256', date, scope, hash(canonical)].join('\n'));
  return timingSafeEqual(expected, Buffer.from(signature, 'hex')) ? key : undefined;
}
