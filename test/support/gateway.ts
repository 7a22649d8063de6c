import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { App } from '../../lib/api/app.ts';
import { lambdaHandler } from '../../lib/api/lambda.ts';
import { type SigningKey, signerOf } from './aws-signature.ts';

/** Somebody whom IAM knows, and what their policies let them do: resources of `execute-api:Invoke` after the stage, `*` in them is anything. */
export interface IamCaller extends SigningKey {
  readonly iam: { readonly accountId: string; readonly userArn: string; readonly userId: string };
  readonly allowed: readonly string[];
}

export interface GatewayOptions {
  /** As the template has them: `GET /health` → `NONE`. */
  readonly routes: Readonly<Record<string, unknown>>;
  readonly app: App;
  readonly callers?: readonly IamCaller[];
  /** Tokens that the JWT authorizer would find good, and their claims. */
  readonly tokens?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

export interface Gateway {
  readonly url: string;
  /** `<method> <path>` of every request that got past the authorizers. */
  readonly passed: string[];
  close(): Promise<void>;
}

/**
 * API Gateway's HTTP API on loopback, as far as the product depends on it: the routes of a template, most specific first;
 * authorizers with answers of their own; IAM policies on method and path; events of payload format 2.0, whose path is
 * decoded. What is known of it comes from AWS's documentation.
 */
export async function gateway({ routes, app, callers = [], tokens = {} }: GatewayOptions): Promise<Gateway> {
  const handle = lambdaHandler(app);
  const passed: string[] = [];
  const server = createServer(async (request, response) => {
    const body = await bodyOf(request);
    const { pathname, search } = new URL(`http://host${request.url}`);
    const method = request.method ?? '';
    const refuse = (status: number, message: string) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ message }));
    const type = authorizationOf(routes, method, pathname);
    if (type === undefined) return refuse(404, 'Not Found');
    const claims = tokens[/^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? ''];
    const signer = callers.find((one) => one === signerOf(request, body, 'execute-api', callers));
    if (type === 'JWT' && claims === undefined) return refuse(401, 'Unauthorized');
    if (type === 'AWS_IAM' && !signer?.allowed.some((pattern) => matches(pattern, `${method}${pathname}`))) return refuse(403, 'Forbidden');
    passed.push(`${method} ${pathname}`);
    const authorizer = type === 'JWT' ? { jwt: { claims, scopes: null } } : type === 'AWS_IAM' ? { iam: signer?.iam } : undefined;
    const {
      statusCode,
      headers,
      body: text,
      isBase64Encoded,
    } = await handle({
      version: '2.0',
      rawPath: decodeURIComponent(pathname),
      rawQueryString: search.slice(1),
      headers: Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)])),
      body: body.length === 0 ? undefined : body.toString('base64'),
      isBase64Encoded: true,
      requestContext: {
        requestId: 'request',
        stage: '$default',
        domainName: request.headers.host,
        http: { method },
        ...(authorizer && { authorizer }),
      },
    });
    return response.writeHead(statusCode, headers).end(Buffer.from(text, isBase64Encoded ? 'base64' : 'utf8'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    passed,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** What the most specific route asks of a caller; undefined when there is no route. */
function authorizationOf(routes: GatewayOptions['routes'], method: string, pathname: string): unknown {
  const fits = Object.entries(routes).filter(([key]) => {
    const [name, path = ''] = key.split(' ');
    const pattern = path.replaceAll(/\{\w+\+\}/g, '.+').replaceAll(/\{\w+\}/g, '[^/]+');
    return (name === method || name === 'ANY') && new RegExp(`^${pattern}$`).test(pathname);
  });
  const rank = ([key]: [string, unknown]): number =>
    (key.includes('+}') ? 4 : key.includes('{') ? 2 : 0) + (key.startsWith('ANY ') ? 1 : 0);
  return fits.sort((a, b) => rank(a) - rank(b))[0]?.[1];
}

/** As IAM reads a pattern: `*` is any text, slashes too. */
export function matches(pattern: string, text: string): boolean {
  const parts = pattern.split('*').map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`, 's').test(text);
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}
