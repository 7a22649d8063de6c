import * as z from 'zod';
import { runIdSchema, sessionIdSchema } from '../../core/ids.ts';
import { jsonSchema } from '../../core/json.ts';
import { nextCursorSchema } from '../paging.ts';
import { schemaNames } from '../schema-names.ts';
import { runSummarySchema } from './run-view.ts';

/** A conversation. Times are ms since 1970. */
export const sessionViewSchema = z
  .object({
    sessionId: sessionIdSchema,
    createdAt: z.number(),
    activeRun: runIdSchema.optional().describe('The run at work, if there is one'),
    deletingAt: z.number().optional().describe('It is being deleted since then; ask again to go on with it'),
    state: z.record(z.string(), jsonSchema).describe('What its runs share; that of the active run comes with its end'),
    runs: z.array(runSummarySchema).describe('Newest first'),
    cursor: nextCursorSchema,
  })
  .register(schemaNames, { id: 'Session' });
