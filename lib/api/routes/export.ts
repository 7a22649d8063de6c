import * as z from 'zod';
import { jsonBytes } from '../../core/json.ts';
import { exportRun as exportWhole, type RunExport } from '../../core/loop/export-run.ts';
import { maskAll } from '../../core/preview.ts';
import { doneBy } from '../audit.ts';
import { defineRoute } from '../route.ts';
import { runExportSchema } from '../views/export-view.ts';
import { runView } from '../views/run-view.ts';
import { ownRun, runParams } from './runs.ts';

/** A page, beside the run itself: within the 6 MB of a Lambda's answer whatever one step adds. */
const PAGE_BYTES = 3_000_000;

export const exportRun = defineRoute({
  method: 'get',
  path: '/runs/{runId}/export',
  id: 'exportRun',
  summary: 'All that is kept of a run, for audit: messages of all frames, events, decisions',
  access: 'read',
  params: runParams,
  query: z.strictObject({ after: z.coerce.number().int().min(0).max(999_999).default(0).describe('The step to begin at') }),
  answer: { status: 200, description: 'Whole steps, oldest first', schema: runExportSchema },
  async handle({ principal, params, query }, services) {
    const run = await ownRun(principal, params.runId, services);
    const whole = await exportWhole(services, run);
    services.audit({ ...doneBy(principal), action: 'run.export', run: run.runId, session: run.sessionId, after: query.after });
    // It leaves the system, for readers who are to judge what was done and not to do it again.
    return maskAll({ v: 1 as const, run: runView(run, [], services.costOf(run)), ...pageFrom(whole, query.after) });
  },
});

/** Whole steps from `after` on, as many as fit into a page; one at least. */
function pageFrom({ messages, events, suspensions }: RunExport, after: number) {
  const shown = suspensions.map(({ tokens: _tokens, links: _links, dueAt: _dueAt, ttl: _ttl, ...rest }) => rest);
  const stepOf = (suspensionId: string): number => Number(suspensionId.slice(suspensionId.lastIndexOf('-') + 1));
  const bytes = new Map<number, number>();
  const count = (step: number, value: unknown): void => {
    if (step >= after) bytes.set(step, (bytes.get(step) ?? 0) + jsonBytes(value) + 1);
  };
  for (const message of messages) count(message.step, message);
  for (const event of events) count(event.step, event);
  for (const suspension of shown) count(stepOf(suspension.suspensionId), suspension);
  const end = firstBeyond([...bytes].sort(([a], [b]) => a - b));
  const within = (step: number): boolean => step >= after && step < end;
  return {
    messages: messages.filter(({ step }) => within(step)),
    events: events.filter(({ step }) => within(step)),
    suspensions: shown.filter(({ suspensionId }) => within(stepOf(suspensionId))),
    ...(Number.isFinite(end) ? { next: end } : {}),
  };
}

/** The step at which the next page begins; infinite when there is none. */
function firstBeyond(steps: readonly (readonly [step: number, bytes: number])[]): number {
  let total = 0;
  for (const [index, [step, size]] of steps.entries()) {
    total += size;
    if (index > 0 && total > PAGE_BYTES) return step;
  }
  return Number.POSITIVE_INFINITY;
}
