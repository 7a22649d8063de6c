import { type Context, Hono } from 'hono';
import { aboutOf } from './about.ts';
import type { AuthStrategy } from './auth/strategy.ts';
import type { Principal } from './principal.ts';
import { HttpError, problemResponse } from './problem.ts';
import { empty } from './respond.ts';
import { notFound, type Operation, type Route } from './route.ts';
import { routes } from './routes.ts';
import type { ApiServices } from './services.ts';

export interface AppOptions {
  /** How callers are known: `localAuth`, `iamAuth`, `jwtAuth` or `bearerAuth`. */
  readonly auth: AuthStrategy;
  /** @default every route of the product */
  readonly routes?: readonly Route[];
}

/** What answers a request. The second argument is what the server around it knows: API Gateway's event, or Node's sockets. */
export interface App {
  fetch(request: Request, env?: unknown): Response | Promise<Response>;
}

/**
 * The HTTP API and the console, on any server that speaks fetch. Order of a request: admission (Host, Origin), route and
 * method, caller, permission, body, use case. Whatever is thrown becomes a problem document.
 */
export function createApp(services: ApiServices, options: AppOptions): App {
  return appOf(services, options.routes ?? routes, options.auth);
}

/** The same for a table of routes that needs other services. */
export function appOf<Services extends RequestServices>(services: Services, table: readonly Route<Services>[], auth: AuthStrategy): App {
  const app = new Hono();
  for (const route of table) app.on(route.method.toUpperCase(), honoPath(route.path), (c) => respond(route, c, services, auth));
  for (const [path, same] of byPath(table)) {
    app.all(honoPath(path), (c) => {
      auth.admit(c.req.raw, false);
      return wrongMethod(c.req.raw.method, same);
    });
  }
  app.notFound((c) => {
    try {
      auth.admit(c.req.raw, false);
      throw notFound();
    } catch (error) {
      return problemResponse(error, services.logger);
    }
  });
  app.onError((error) => problemResponse(error, services.logger));
  return { fetch: (request, env) => app.fetch(request, Object(env)) };
}

/** What answering takes, whatever the routes do. */
type RequestServices = Pick<ApiServices, 'logger' | 'about'>;

function respond<Services extends RequestServices>(
  route: Route<Services>,
  c: Context,
  services: Services,
  auth: AuthStrategy,
): Promise<Response> {
  const request = c.req.raw;
  auth.admit(request, route.page === true);
  const params = c.req.param();
  services.about(aboutOf(route, params, undefined));
  const principal = route.access === 'public' ? undefined : auth.authenticate(request, c.env);
  if (principal !== undefined) services.about(aboutOf(route, params, admitted(route, principal)));
  return route.respond({ request, env: c.env, params, principal, services, auth });
}

function admitted(route: Operation, principal: Principal): Principal {
  const { access } = route;
  if (access !== 'public' && access !== 'signed-in' && !principal.permissions.has(access))
    throw new HttpError('FORBIDDEN', `this needs the permission "${access}"`, { extra: { permission: access } });
  return principal;
}

function wrongMethod(method: string, same: readonly Operation[]): Response {
  const allow = [
    ...new Set(same.flatMap((route) => (route.method === 'get' ? ['GET', 'HEAD'] : [route.method.toUpperCase()]))),
    'OPTIONS',
  ].join(', ');
  if (method === 'OPTIONS') return empty(204, { allow });
  throw new HttpError('METHOD_NOT_ALLOWED', `${method.slice(0, 20)} is not possible here`, { headers: { allow } });
}

function byPath(table: readonly Operation[]): Map<string, Operation[]> {
  return Map.groupBy(table, (route) => route.path);
}

/** `/runs/{runId}` → `/runs/:runId`; a `{path}` at the end takes all that is left, slashes too. */
function honoPath(path: string): string {
  return path.replace(/\{path\}$/, ':path{.+}').replaceAll(/\{(\w+)\}/g, ':$1');
}
