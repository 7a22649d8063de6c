import * as z from 'zod';
import { approvalStatuses } from '../../core/guard/approvals/suspension.ts';
import { parseApprovalId } from '../../core/ids.ts';
import type { Decision } from '../client.ts';
import type { Command, Handler } from '../command.ts';
import { withConnection } from '../connection.ts';
import { columns, duration, oneLine } from '../display-text.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { parseOptions, usageError } from '../failure.ts';
import { interruptible } from '../interrupt.ts';
import { printJson } from '../print-json.ts';
import { seeThrough } from './run.ts';

const baseSchema = z.object({
  url: z.url().optional(),
  json: z.boolean().default(false),
});
const listSchema = baseSchema.extend({
  limit: z.string().optional(),
  cursor: z.string().optional(),
  status: z.enum([...approvalStatuses, 'all']).optional(),
});
const decideSchema = baseSchema.extend({
  reason: z.string().optional(),
  wait: z.boolean().default(false),
  nonTtyPending: z.boolean().optional(),
});

/** `handrail approvals`: what people are asked to decide. */
export const listApprovals: Handler = async (command, _args, raw) => {
  const { url, json, limit, cursor, status } = parseOptions(listSchema, raw);
  const { context, screen } = command;
  const page = await withConnection(command, url, 'look', ({ client }) => client.listApprovals({ limit, cursor, status }));
  if (json) {
    printJson(context, page);
    return EXIT.ok;
  }
  const now = Date.now();
  const rows = page.approvals.map((approval) => [
    approval.approvalId,
    approval.status,
    approval.status === 'pending' ? `${duration(Math.max(0, approval.expiresAt - now))} left` : '-',
    approval.tool,
    `${oneLine(JSON.stringify(approval.arguments), 80)}  (${oneLine(approval.reason, 120)})`,
  ]);
  if (rows.length === 0) screen.line('Nothing waits for a person.');
  const head = context.stdout.isTTY && rows.length > 0 ? [['APPROVAL', 'STATUS', 'EXPIRES', 'TOOL', 'ARGUMENTS']] : [];
  for (const line of columns([...head, ...rows])) context.stdout.write(`${line}\n`);
  if (page.cursor !== undefined) screen.line(screen.style.dim(`older ones: handrail approvals --cursor ${page.cursor}`));
  return EXIT.ok;
};

/** `handrail approve <approvalId>` */
export const approve: Handler = (command, args, raw) => decide(command, args, raw, { decision: 'approve' });
/** `handrail reject <approvalId>` */
export const reject: Handler = (command, args, raw) => decide(command, args, raw, { decision: 'reject' });
/** `handrail answer <approvalId> <text>` */
export const answer: Handler = (command, args, raw) => decide(command, args, raw, { decision: 'answer', answer: args[1] ?? '' });

/** Without a server one is started here, and the run that goes on is seen to its end: it has nowhere else to go on. */
async function decide(command: Command, [approvalId = '']: readonly string[], raw: unknown, decision: Decision): Promise<ExitCode> {
  const { url, json, reason, wait, nonTtyPending } = parseOptions(decideSchema, raw);
  const runId = parseApprovalId(approvalId)?.runId;
  if (runId === undefined) throw usageError(`${approvalId} is not an approval id; "handrail approvals" lists them`);
  return interruptible(command.context, (signal) =>
    withConnection(command, url, 'work', async (connection) => {
      const { client, kind } = connection;
      const { step } = await client.getRun(runId);
      const decided = await client.decide(approvalId, {
        ...decision,
        ...(reason === undefined ? {} : { reason }),
      });
      if (wait || kind === 'own')
        return seeThrough(command, connection, runId, {
          signal,
          json,
          nonTtyPending,
          after: step,
        });
      if (json) printJson(command.context, decided);
      else command.context.stdout.write(`${decided.tool} is ${decided.status} (${runId})\n`);
      return EXIT.ok;
    }),
  );
}
