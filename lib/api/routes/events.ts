import * as z from 'zod';
import { placedEventSchema } from '../../core/loop/event.ts';
import { defineRoute } from '../route.ts';
import { schemaNames } from '../schema-names.ts';
import { eventPage } from '../views/event-view.ts';
import { runBrief, runBriefSchema } from '../views/run-view.ts';
import { ownRun, runParams } from './runs.ts';

const eventListSchema = z
  .object({
    ...runBriefSchema.shape,
    events: z.array(placedEventSchema),
    next: z.int().describe('`after` of the next request'),
    more: z.boolean().describe('There are later events already'),
  })
  .register(schemaNames, { id: 'EventList' });

export const listEvents = defineRoute({
  method: 'get',
  path: '/runs/{runId}/events',
  id: 'listEvents',
  summary: 'The event log of a run, in order',
  access: 'read',
  params: runParams,
  query: z.strictObject({
    after: z.coerce
      .number()
      .int()
      .min(0)
      .max(999_999)
      .default(0)
      .describe('A step: its events and all later ones are returned. Drop those whose `key` you have.'),
  }),
  answer: { status: 200, description: 'Whole steps, oldest first', schema: eventListSchema },
  async handle({ principal, params, query }, services) {
    // The run first: a run that has ended by then has all its events to be read.
    const run = await ownRun(principal, params.runId, services);
    const events = await services.runs.readEvents({ tenant: run.tenant, runId: run.runId }, query.after);
    return { ...runBrief(run), ...eventPage(run, events, query.after, services.clock.now()) };
  },
});
