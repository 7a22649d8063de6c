import * as z from 'zod';
import type { Code } from '../core/errors.ts';
import type { AuthStrategy } from './auth/strategy.ts';
import { readJsonBody } from './body.ts';
import type { Permission, Principal } from './principal.ts';
import { HttpError } from './problem.ts';
import { json } from './respond.ts';
import type { ApiServices } from './services.ts';
import { queryObject, validated } from './validate.ts';

type Method = 'get' | 'post' | 'put' | 'delete';
/** Who may come in: anyone; anyone who has signed in; those with the permission. */
type Access = 'public' | 'signed-in' | Permission;

export interface Answer {
  readonly status: number;
  readonly description: string;
  /** Absent: no body, or a text of `mediaType`. */
  readonly schema?: z.ZodType;
  /** @default application/json */
  readonly mediaType?: string;
}

/** What the OpenAPI document says of a route, and what the tests are driven by. */
export interface Operation {
  readonly method: Method;
  /** As OpenAPI writes it: `/runs/{runId}`. */
  readonly path: string;
  readonly id: string;
  readonly summary: string;
  readonly access: Access;
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  /** A request without a body is as good as `{}`. */
  readonly bodyOptional?: boolean;
  /** The body is bytes of this media type instead. */
  readonly rawBody?: string;
  readonly answers: readonly Answer[];
  /** Codes of its own, beyond those that any route may answer. */
  readonly errors?: readonly Code[];
  /** The answer has an ETag; a write must name the one it has seen (428 without, 412 when it is another by now). */
  readonly etag?: boolean;
}

/** One request at its route. `principal` is undefined only where anyone may come in. */
export interface Call<Services = ApiServices> {
  readonly request: Request;
  /** What the server around the app knows of the request: API Gateway's event, or Node's sockets. */
  readonly env: unknown;
  readonly params: Readonly<Record<string, string>>;
  readonly principal: Principal | undefined;
  readonly services: Services;
  readonly auth: AuthStrategy;
}

/** `Services`: what it needs of the server around it; `unknown` = nothing. */
export interface Route<Services = ApiServices> extends Operation {
  /** A page that a person may open from anywhere by a link. */
  readonly page?: boolean;
  respond(call: Call<Services>): Promise<Response>;
}

interface Handled<Params, Query, Body> {
  readonly principal: Principal;
  /** `cli` where the client says that it is our command line, which anyone may say; else `api`. */
  readonly how: 'api' | 'cli';
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** The value of If-Match, which only writes of routes with an ETag have. */
  readonly ifMatch: string;
}

interface RouteSpec<Params extends z.ZodObject, Query extends z.ZodObject, Body extends z.ZodType, Out extends z.ZodType>
  extends Omit<Operation, 'answers' | 'params' | 'query' | 'body' | 'etag'> {
  readonly access: Exclude<Access, 'public'>;
  readonly params?: Params;
  readonly query?: Query;
  readonly body?: Body;
  readonly answer: { readonly status: number; readonly description: string; readonly schema: Out };
  /** The entity tag of an answer, in quotes. */
  readonly etag?: (answer: z.input<Out>) => string;
  readonly handle: (input: Handled<z.output<Params>, z.output<Query>, z.output<Body>>, services: ApiServices) => Promise<z.input<Out>>;
}

/** How our command line names itself: `handrail-cli/<version>`. */
export const CLI_AGENT = 'handrail-cli/';

const nothing = z.strictObject({});

/**
 * A JSON route: its schemas check what comes in, type what goes out, and are the OpenAPI document. An id that is not
 * even well formed is answered like one that nobody has.
 */
export function defineRoute<
  Out extends z.ZodType,
  Params extends z.ZodObject = typeof nothing,
  Query extends z.ZodObject = typeof nothing,
  Body extends z.ZodType = typeof nothing,
>(spec: RouteSpec<Params, Query, Body, Out>): Route {
  const { answer, handle, etag, ...operation } = spec;
  return {
    ...operation,
    answers: [answer],
    ...(etag === undefined ? {} : { etag: true }),
    async respond({ request, params, principal, services }) {
      if (principal === undefined) throw new HttpError('UNAUTHORIZED', 'sign in first');
      const ids = (spec.params ?? nothing).safeParse(params);
      if (!ids.success) throw notFound();
      const query = validated(spec.query ?? nothing, queryObject(request.url), 'query');
      const sent = spec.body === undefined ? undefined : await readJsonBody(request, spec.bodyOptional === true);
      const body = validated(spec.body ?? nothing, sent === undefined ? {} : sent, 'body');
      const ifMatch = etag === undefined || spec.method === 'get' ? '' : neededIfMatch(request);
      // The schemas that are absent here are the defaults of the type parameters, which the compiler cannot see.
      const how = request.headers.get('user-agent')?.startsWith(CLI_AGENT) ? 'cli' : 'api';
      const input = { principal, how, params: ids.data, query, body, ifMatch } as Handled<
        z.output<Params>,
        z.output<Query>,
        z.output<Body>
      >;
      const result = await handle(input, services);
      return json(answer.status, result, etag === undefined ? {} : { etag: etag(result) });
    },
  };
}

/** RFC 6585, 428: without it, two who change the same thing would undo each other's work unseen. */
function neededIfMatch(request: Request): string {
  const value = request.headers.get('if-match');
  if (value === null || value.trim() === '')
    throw new HttpError('CONFLICT', 'send the ETag of what you have seen as If-Match', { status: 428, field: 'if-match' });
  return value.trim();
}

/** The same words for an unknown id, another tenant's id and an unknown path: an answer must not tell them apart. */
export function notFound(): HttpError {
  return new HttpError('NOT_FOUND', 'there is nothing here that you may see');
}
