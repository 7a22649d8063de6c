import * as z from 'zod';
import type { Handler } from '../command.ts';
import { withConnection } from '../connection.ts';
import { columns, money, oneLine } from '../display-text.ts';
import { EXIT } from '../exit-codes.ts';
import { parseOptions } from '../failure.ts';
import { printJson } from '../print-json.ts';

const optionsSchema = z.object({ url: z.url().optional(), json: z.boolean().default(false) });
const STATE_CHARACTERS = 2_000;

/** `handrail sessions show <sessionId>` */
export const showSession: Handler = async (command, [sessionId = ''], raw) => {
  const { url, json } = parseOptions(optionsSchema, raw);
  const { context, screen } = command;
  const session = await withConnection(command, url, 'look', ({ client }) => client.getSession(sessionId));
  if (json) {
    printJson(context, session);
    return EXIT.ok;
  }
  const rows = [
    ['session', session.sessionId],
    ['since', new Date(session.createdAt).toISOString()],
    ['at work', session.activeRun ?? ''],
    ['deleting', session.deletingAt === undefined ? '' : `since ${new Date(session.deletingAt).toISOString()}; ask again to go on`],
    ['state', oneLine(JSON.stringify(session.state), STATE_CHARACTERS)],
    ...session.runs.map((run, index) => [
      index === 0 ? 'runs' : '',
      `${run.runId}  ${run.status}  ${money(run.cost) || '-'}  ${oneLine(run.input, 60)}`,
    ]),
  ];
  for (const line of columns(rows.filter(([, value]) => value !== ''))) context.stdout.write(`${line}\n`);
  if (session.cursor !== undefined) screen.line(screen.style.dim(`older ones: handrail runs --session ${session.sessionId}`));
  return EXIT.ok;
};

/** `handrail sessions delete <sessionId>` */
export const deleteSession: Handler = async (command, [sessionId = ''], raw) => {
  const { url, json } = parseOptions(optionsSchema, raw);
  const { context, screen } = command;
  await withConnection(command, url, 'change', ({ client }) => client.deleteSession(sessionId));
  if (json) printJson(context, { sessionId, deleted: true });
  else {
    context.stdout.write(`${oneLine(sessionId, 64)} is deleted, with its messages, runs, events, approvals and files\n`);
    screen.line(screen.style.dim('what agents keep in memory belongs to the tenant and stays'));
  }
  return EXIT.ok;
};
