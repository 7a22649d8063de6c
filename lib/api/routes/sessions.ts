import * as z from 'zod';
import { HandrailError } from '../../core/errors.ts';
import { sessionIdSchema } from '../../core/ids.ts';
import { isTerminal } from '../../core/loop/run-status.ts';
import { readState, stateOf } from '../../core/loop/shared-state.ts';
import { doneBy } from '../audit.ts';
import { pagingShape } from '../paging.ts';
import { empty } from '../respond.ts';
import { defineRoute, notFound, type Route } from '../route.ts';
import { signedInAs } from '../signed-in.ts';
import { runSummary } from '../views/run-view.ts';
import { sessionViewSchema } from '../views/session-view.ts';

export const sessionParams = z.strictObject({ sessionId: sessionIdSchema });

/** The same for an unknown id and for another tenant's. */
export const noSession = (sessionId: string): HandrailError => new HandrailError('NOT_FOUND', `there is no session ${sessionId}`);

export const getSession = defineRoute({
  method: 'get',
  path: '/sessions/{sessionId}',
  id: 'getSession',
  summary: 'A conversation: its shared state and its runs',
  access: 'read',
  params: sessionParams,
  query: z.strictObject(pagingShape),
  answer: { status: 200, description: 'The session', schema: sessionViewSchema },
  async handle({ principal: { tenant }, params: { sessionId }, query }, services) {
    const session = await services.runs.getSession({ tenant, sessionId });
    if (session === undefined) throw noSession(sessionId);
    const holder = session.activeRun === undefined ? undefined : await services.runs.getRun({ tenant, runId: session.activeRun });
    const { limit, cursor: from } = query;
    const { items, cursor } = await services.runs.listRuns(tenant, { limit, sessionId, ...(from === undefined ? {} : { cursor: from }) });
    const ended = holder !== undefined && isTerminal(holder);
    return {
      sessionId,
      createdAt: session.createdAt,
      ...(holder === undefined || ended ? {} : { activeRun: holder.runId }),
      ...(session.deletingAt === undefined ? {} : { deletingAt: session.deletingAt }),
      state: await readState(services.runs, { tenant, sessionId }, stateOf(session, holder)),
      runs: items.map(runSummary),
      ...(cursor === undefined ? {} : { cursor }),
    };
  },
});

/** Run ids in one audit line: far below the 256 KB that a line of CloudWatch Logs may have. */
const RUNS_A_LINE = 1_000;

export const deleteSession: Route = {
  method: 'delete',
  path: '/sessions/{sessionId}',
  id: 'deleteSession',
  summary: 'Delete a conversation and all it left: messages, runs, events, approvals, files. Memory belongs to the tenant and stays.',
  access: 'delete',
  params: sessionParams,
  answers: [{ status: 204, description: 'It is gone' }],
  errors: ['SESSION_BUSY'],
  async respond({ principal, params, services }) {
    const caller = signedInAs(principal);
    const ids = sessionParams.safeParse(params);
    if (!ids.success) throw notFound();
    const { sessionId } = ids.data;
    await services.deleteSession({ tenant: caller.tenant, sessionId }, (runs) => {
      const told = { ...doneBy(caller), action: 'session.delete', session: sessionId } as const;
      let from = 0;
      do {
        services.audit({ ...told, runs: runs.slice(from, from + RUNS_A_LINE) });
        from += RUNS_A_LINE;
      } while (from < runs.length);
    });
    return empty(204);
  },
};
