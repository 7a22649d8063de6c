import * as z from 'zod';
import type { RunExportPage } from '../client.ts';
import type { Handler } from '../command.ts';
import { withConnection } from '../connection.ts';
import { EXIT } from '../exit-codes.ts';
import { parseOptions } from '../failure.ts';

const optionsSchema = z.object({ url: z.url().optional(), json: z.boolean().default(false) });

/** `handrail export <runId>`: all that is kept of a run as one JSON value. */
export const exportRun: Handler = async (command, [runId = ''], raw) => {
  const { url } = parseOptions(optionsSchema, raw);
  const whole = await withConnection(command, url, 'look', async ({ client }) => {
    let page = await client.exportRun(runId, 0);
    const { messages, events, suspensions } = page;
    const parts: Pick<RunExportPage, 'messages' | 'events' | 'suspensions'> = { messages, events, suspensions };
    while (page.next !== undefined) {
      page = await client.exportRun(runId, page.next);
      parts.messages.push(...page.messages);
      parts.events.push(...page.events);
      parts.suspensions.push(...page.suspensions);
    }
    return { v: page.v, run: page.run, ...parts };
  });
  command.context.stdout.write(`${JSON.stringify(whole, null, 2)}\n`);
  return EXIT.ok;
};
