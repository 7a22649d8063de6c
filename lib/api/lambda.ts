import * as z from 'zod';
import { silentLogger } from '../core/ports/logger.ts';
import type { App } from './app.ts';
import { HttpError, problemResponse } from './problem.ts';

/** The part of API Gateway's HTTP API event (payload format 2.0) that is a request. The rest goes on to authentication. */
const eventSchema = z.looseObject({
  rawPath: z.string().startsWith('/'),
  rawQueryString: z.string().default(''),
  headers: z.record(z.string(), z.string()).default({}),
  cookies: z.array(z.string()).optional(),
  body: z.string().nullish(),
  isBase64Encoded: z.boolean().default(false),
  requestContext: z.looseObject({
    stage: z.string().default('$default'),
    domainName: z.string().optional(),
    http: z.looseObject({ method: z.string().regex(/^[A-Za-z]{1,20}$/) }),
  }),
});
type GatewayEvent = z.infer<typeof eventSchema>;

export interface GatewayResult {
  readonly statusCode: number;
  readonly headers: Record<string, string>;
  readonly cookies?: string[];
  readonly body: string;
  readonly isBase64Encoded: boolean;
}

/**
 * The app as a Lambda behind an HTTP API: `export const handler = lambdaHandler(createApp(…))`. Written here, and not
 * taken from the framework, for one kind of event, checked, and headers as they are.
 */
export function lambdaHandler(app: App): (event: unknown) => Promise<GatewayResult> {
  return async (event) => {
    const parsed = eventSchema.parse(event);
    const request = requestOf(parsed);
    const response = request instanceof Response ? request : await app.fetch(request, { requestContext: parsed.requestContext });
    const cookies = response.headers.getSetCookie();
    const headers = Object.fromEntries([...response.headers].filter(([name]) => name !== 'set-cookie'));
    return {
      statusCode: response.status,
      headers,
      ...(cookies.length > 0 ? { cookies } : {}),
      ...(await bodyOf(response)),
    };
  };
}

/** Files go as they are; everything else is text. */
async function bodyOf(response: Response): Promise<Pick<GatewayResult, 'body' | 'isBase64Encoded'>> {
  if (response.headers.get('content-type') !== 'application/octet-stream') return { body: await response.text(), isBase64Encoded: false };
  return { body: Buffer.from(await response.arrayBuffer()).toString('base64'), isBase64Encoded: true };
}

/** A response at once for what cannot be a request: a method such as TRACE, a path that no URL can hold. */
function requestOf(event: GatewayEvent): Request | Response {
  const { method } = event.requestContext.http;
  const headers = new Headers();
  for (const [name, value] of Object.entries(event.headers)) if (/^[\t\x20-\xff]*$/.test(value)) headers.set(name, value);
  if (event.cookies !== undefined) headers.set('cookie', event.cookies.join('; '));
  const hasBody = method !== 'GET' && method !== 'HEAD' && event.body !== undefined && event.body !== null && event.body !== '';
  const body = hasBody ? { body: Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8') } : {};
  try {
    return new Request(urlOf(event), { method, headers, ...body });
  } catch (cause) {
    return problemResponse(new HttpError('BAD_REQUEST', 'the method or the path is not valid', { cause }), silentLogger);
  }
}

/**
 * A stage that has a name stands before the path. What IAM let in was the path as it came, so nothing else may become of it
 * here: URLs resolve `..`, turn `\\` round and drop tabs, by which `PUT /sessions/x/files/../../../policy` would be
 * `PUT /policy`. HTTP APIs hand paths over decoded, so `?` and `#` are part of them. Throws for such a path.
 */
function urlOf(event: GatewayEvent): string {
  const { stage, domainName = 'localhost' } = event.requestContext;
  const path = stage !== '$default' && event.rawPath.startsWith(`/${stage}/`) ? event.rawPath.slice(stage.length + 1) : event.rawPath;
  const url = new URL(`https://${domainName}${path.replaceAll('?', '%3F').replaceAll('#', '%23')}`);
  if (decoded(url.pathname) !== decoded(path)) throw new HttpError('BAD_REQUEST', 'the path is not plain');
  return `${url.href}${event.rawQueryString === '' ? '' : `?${event.rawQueryString}`}`;
}

/** The bytes that a path stands for, one a character, whether they are written out or not. */
function decoded(path: string): string {
  return Buffer.from(path, 'utf8')
    .toString('latin1')
    .replaceAll(/%([0-9a-f]{2})/gi, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
