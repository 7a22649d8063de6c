import * as z from 'zod';
import { suspensionSchema } from '../../core/guard/approvals/suspension.ts';
import { placedEventSchema } from '../../core/loop/event.ts';
import { messageSchema } from '../../core/loop/message.ts';
import { schemaNames } from '../schema-names.ts';
import { runViewSchema } from './run-view.ts';

/** What lets somebody answer in another's place stays out of an audit. */
const exportedSuspensionSchema = suspensionSchema.omit({ tokens: true, links: true, dueAt: true, ttl: true });

/** All that is kept of a run, or a page of it. */
export const runExportSchema = z
  .object({
    v: z.literal(1),
    run: runViewSchema,
    messages: z.array(z.object({ frame: z.string(), step: z.int(), index: z.int(), message: messageSchema })),
    events: z.array(placedEventSchema),
    suspensions: z.array(exportedSuspensionSchema).describe('What people were asked and how they decided'),
    next: z.int().optional().describe('`after` of the next page; absent on the last one'),
  })
  .register(schemaNames, { id: 'RunExport' });
