import * as z from 'zod';
import { consolePage } from '../../console/page.ts';
import { consoleScript } from '../../console/script.ts';
import { consoleStyle } from '../../console/style.ts';
import { readJsonBody } from '../body.ts';
import { HttpError } from '../problem.ts';
import { asset, empty, page } from '../respond.ts';
import type { Call, Route } from '../route.ts';
import { schemaNames } from '../schema-names.ts';
import { validated } from '../validate.ts';

/**
 * The console. The page itself holds no data: it is the same for everybody and reads all it shows through the API, with
 * a cookie (laptop) or a bearer token (elsewhere). Who has not signed in gets it with 401, and it asks for the secret; where
 * requests are signed it cannot ask for anything, and says how to come in.
 */
export const consoleRoot: Route<unknown> = {
  method: 'get',
  path: '/',
  id: 'console',
  summary: 'The console, a page for people. `?key=` of a one-time link signs the browser in.',
  access: 'public',
  page: true,
  query: z.object({ key: z.string().optional() }),
  answers: [
    { status: 200, description: 'The page', mediaType: 'text/html' },
    { status: 303, description: 'Signed in by the link; the page is at /' },
    { status: 401, description: 'The page, which asks for the secret', mediaType: 'text/html' },
  ],
  async respond(call) {
    const { console: session } = call.auth;
    const key = new URL(call.request.url).searchParams.get('key');
    if (key !== null && session.signIn === 'cookie') {
      const cookie = session.redeem(key);
      // A link opened twice in the same browser is as good as the page itself.
      if (cookie !== undefined) return empty(303, { location: '/', 'set-cookie': cookie });
      if (signedIn(call)) return empty(303, { location: '/' });
    }
    const html = consolePage({ signIn: session.signIn, approvalPages: session.signIn === 'cookie' && session.approvalPages });
    return session.signIn === 'signature' || signedIn(call) ? page(200, html) : page(401, html, { 'www-authenticate': 'Bearer' });
  },
};

export const consoleScriptFile: Route<unknown> = {
  method: 'get',
  path: '/console.js',
  id: 'consoleScript',
  summary: 'Script of the console',
  access: 'public',
  answers: [{ status: 200, description: 'The script', mediaType: 'text/javascript' }],
  respond: async () => asset('text/javascript', consoleScript),
};

export const consoleStyleFile: Route<unknown> = {
  method: 'get',
  path: '/console.css',
  id: 'consoleStyle',
  summary: 'Style of the console',
  access: 'public',
  answers: [{ status: 200, description: 'The style sheet', mediaType: 'text/css' }],
  respond: async () => asset('text/css', consoleStyle),
};

const signInBody = z.strictObject({ secret: z.string().min(1).max(4096) }).register(schemaNames, { id: 'SignIn' });

export const signIn: Route<unknown> = {
  method: 'post',
  path: '/console/session',
  id: 'consoleSignIn',
  summary: 'Sign a browser in with the secret: answers a cookie',
  access: 'public',
  body: signInBody,
  answers: [{ status: 204, description: 'Signed in' }],
  async respond({ request, auth }) {
    const { secret } = validated(signInBody, await readJsonBody(request, false), 'body');
    const cookie = auth.console.signIn === 'cookie' ? auth.console.exchange(secret) : undefined;
    if (cookie === undefined) throw new HttpError('UNAUTHORIZED', 'that is not the secret of this server', { field: 'secret' });
    return empty(204, { 'set-cookie': cookie });
  },
};

function signedIn({ auth, request, env }: Call<unknown>): boolean {
  try {
    return auth.authenticate(request, env) !== undefined;
  } catch (error) {
    if (error instanceof HttpError && error.status < 500) return false;
    throw error;
  }
}
