import * as z from 'zod';
import { constraintsSchema } from '../../core/guard/constraints.ts';
import { runIdSchema, sessionIdSchema } from '../../core/ids.ts';
import type { Run } from '../../core/loop/run.ts';
import { doneBy } from '../audit.ts';
import { nextCursorSchema, pagingShape } from '../paging.ts';
import type { Principal } from '../principal.ts';
import { defineRoute, notFound } from '../route.ts';
import { schemaNames } from '../schema-names.ts';
import type { ApiServices } from '../services.ts';
import { approvalViews, maskedApproval } from '../views/approval-view.ts';
import { runBrief, runBriefSchema, runSummary, runSummarySchema, runView, runViewSchema, shownStatuses } from '../views/run-view.ts';

export const runParams = z.strictObject({ runId: runIdSchema });

const startRunBody = z
  .strictObject({
    input: z.string().min(1).describe('The request to work on'),
    agent: z
      .string()
      .regex(/^[a-z][a-z0-9_-]{0,62}$/, 'an agent name is a-z, then up to 62 of a-z 0-9 _ -')
      .optional()
      .describe('An agent of the configuration; `default` when absent'),
    sessionId: sessionIdSchema.optional().describe('The conversation to go on with; a new one when absent'),
    skills: z.array(z.string().min(1).max(64)).max(32).optional(),
    constraints: constraintsSchema.optional().describe('May only tighten what holds anyway'),
    idempotencyKey: z.string().min(1).max(256).optional().describe('The same key and body give the same run'),
  })
  .register(schemaNames, { id: 'StartRun' });

const runListSchema = z.object({ runs: z.array(runSummarySchema), cursor: nextCursorSchema }).register(schemaNames, { id: 'RunList' });

export const startRun = defineRoute({
  method: 'post',
  path: '/runs',
  id: 'startRun',
  summary: 'Start a run',
  access: 'run',
  body: startRunBody,
  answer: { status: 202, description: 'It has been started', schema: runBriefSchema },
  errors: ['CONFLICT', 'SESSION_BUSY'],
  async handle({ principal, body }, services) {
    return runBrief(await services.startRun({ tenant: principal.tenant, principal: principal.principal, ...body }));
  },
});

export const listRuns = defineRoute({
  method: 'get',
  path: '/runs',
  id: 'listRuns',
  summary: 'Runs, newest first',
  access: 'read',
  query: z.strictObject({ ...pagingShape, status: z.enum(shownStatuses).optional(), sessionId: sessionIdSchema.optional() }),
  answer: { status: 200, description: 'A page of runs', schema: runListSchema },
  async handle({ principal, query }, services) {
    const { items, cursor } = await services.runs.listRuns(principal.tenant, withoutUndefined(query));
    return { runs: items.map(runSummary), ...(cursor === undefined ? {} : { cursor }) };
  },
});

export const getRun = defineRoute({
  method: 'get',
  path: '/runs/{runId}',
  id: 'getRun',
  summary: 'A run: how it stands, what it cost, what it waits for',
  access: 'read',
  params: runParams,
  answer: { status: 200, description: 'The run', schema: runViewSchema },
  async handle({ principal, params }, services) {
    const run = await ownRun(principal, params.runId, services);
    return runView(run, await openApprovals(run, services), services.costOf(run));
  },
});

export const cancelRun = defineRoute({
  method: 'post',
  path: '/runs/{runId}/cancel',
  id: 'cancelRun',
  summary: 'Cancel a run',
  access: 'run',
  params: runParams,
  body: z.strictObject({}),
  bodyOptional: true,
  answer: { status: 202, description: 'It will end as cancelled, or has ended already', schema: runBriefSchema },
  async handle({ principal, params }, services) {
    await ownRun(principal, params.runId, services);
    const run = await services.cancelRun({ tenant: principal.tenant, runId: params.runId, principal: principal.principal });
    services.audit({ ...doneBy(principal), action: 'run.cancel', run: run.runId, session: run.sessionId });
    return runBrief(run);
  },
});

/** The caller's run, or the same answer as for an id that nobody has. */
export async function ownRun(principal: Principal, runId: string, services: ApiServices): Promise<Run> {
  const run = await services.runs.getRun({ tenant: principal.tenant, runId });
  if (run === undefined || run.tenant !== principal.tenant) throw notFound();
  return run;
}

async function openApprovals(run: Run, services: ApiServices) {
  if (run.plan?.next !== 'suspend' || run.status !== 'waiting') return [];
  const suspension = await services.guard.getSuspension(run.plan.suspensionId);
  return suspension === undefined || suspension.tenant !== run.tenant
    ? []
    : approvalViews(suspension, services.clock.now()).map(maskedApproval);
}

/** For ports whose optional fields may not be present and undefined. */
function withoutUndefined<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined)) as { [K in keyof T]: Exclude<T[K], undefined> };
}
