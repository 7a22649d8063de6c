import { type App, appOf } from '../api/app.ts';
import type { AuthStrategy } from '../api/auth/strategy.ts';
import { HttpError } from '../api/problem.ts';
import { relayed } from '../api/respond.ts';
import type { Call, Route } from '../api/route.ts';
import { decideApproval, listApprovals } from '../api/routes/approvals.ts';
import { consoleRoot, consoleScriptFile, consoleStyleFile, signIn } from '../api/routes/console.ts';
import { listEvents } from '../api/routes/events.ts';
import { cancelRun, getRun, listRuns, startRun } from '../api/routes/runs.ts';
import { FILE_TRANSFER_BYTES } from '../core/limits.ts';
import type { Logger } from '../core/ports/logger.ts';
import { foreignFailure } from './client.ts';
import type { Sender } from './sender.ts';

/** What the console's script asks for, and no more: whoever got past the sign-in could do all of it with somebody's credentials. */
const FORWARDED: readonly Route<unknown>[] = [startRun, listRuns, getRun, listEvents, cancelRun, listApprovals, decideApproval];

export interface ConsoleProxyOptions {
  /** Who may come in: `localAuth` of this process. */
  readonly auth: AuthStrategy;
  /** Sends to the deployment, as whoever started this. */
  readonly send: Sender;
  readonly logger: Logger;
}

/**
 * The console on this machine for a deployment elsewhere. Its page, script and sign-in are served from here; its requests
 * are sent on, signed. Nothing of the browser but method, path, query, content type and body goes out, and nothing but
 * JSON comes back.
 */
export function consoleProxy({ auth, send, logger }: ConsoleProxyOptions): App {
  const own = [consoleRoot, consoleScriptFile, consoleStyleFile, signIn];
  const forwarded = FORWARDED.map((route): Route<unknown> => ({ ...route, respond: (call) => forward(call, send) }));
  return appOf({ logger, about: () => undefined }, [...own, ...forwarded], auth);
}

async function forward({ request }: Call<unknown>, send: Sender): Promise<Response> {
  const { pathname, searchParams } = new URL(request.url);
  const type = request.headers.get('content-type');
  const method = request.method === 'GET' || request.method === 'HEAD' ? 'GET' : 'POST';
  const body = method === 'GET' ? undefined : new Uint8Array(await request.arrayBuffer());
  if (body !== undefined && body.length > FILE_TRANSFER_BYTES) throw new HttpError('PAYLOAD_TOO_LARGE', 'that is too large');
  const answer = await send({
    method,
    path: pathname,
    query: Object.fromEntries(searchParams),
    headers: type === null ? {} : { 'content-type': type },
    ...(body === undefined || body.length === 0 ? {} : { body }),
  });
  const text = await answer.text();
  const kind = answer.headers.get('content-type')?.split(';', 1)[0];
  // 401 is for the page: sign in here. That the deployment does not know us is no matter of the browser.
  if (answer.status === 401) throw new HttpError('UNAUTHORIZED', 'the deployment does not take these credentials', { status: 502 });
  if (kind === 'application/problem+json' || (answer.ok && kind === 'application/json')) return relayed(answer.status, kind, text);
  throw foreignFailure(answer.status, text, `${method} ${pathname}`);
}
