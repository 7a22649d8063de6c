import * as z from 'zod';
import { type RunView, shownStatuses } from '../../api/views/run-view.ts';
import { TERMINAL } from '../../core/loop/run-status.ts';
import type { Command, Handler } from '../command.ts';
import { withConnection } from '../connection.ts';
import { columns, duration, money, oneLine, visible } from '../display-text.ts';
import { eventLine } from '../event-line.ts';
import { EXIT } from '../exit-codes.ts';
import { parseOptions } from '../failure.ts';
import { interruptible } from '../interrupt.ts';
import { printJson } from '../print-json.ts';
import { constraintRows } from '../rule-rows.ts';
import { seeThrough } from './run.ts';

const baseSchema = z.object({
  url: z.url().optional(),
  json: z.boolean().default(false),
});
const listSchema = baseSchema.extend({
  limit: z.string().optional(),
  cursor: z.string().optional(),
  status: z.enum(shownStatuses).optional(),
  session: z.string().optional(),
});

/** `handrail runs`: newest first. */
export const listRuns: Handler = async (command, _args, raw) => {
  const { url, json, limit, cursor, status, session } = parseOptions(listSchema, raw);
  const { context, screen } = command;
  const page = await withConnection(command, url, 'look', ({ client }) => client.listRuns({ limit, cursor, status, sessionId: session }));
  if (json) return print(command, page);
  const now = Date.now();
  const rows = page.runs.map((run) => [
    run.runId,
    run.status,
    `${duration(Math.max(0, now - run.createdAt))} ago`,
    money(run.cost) || '-',
    oneLine(run.input, 80),
  ]);
  if (rows.length === 0) screen.line('There are no runs. Start one: handrail run "…"');
  const head = context.stdout.isTTY && rows.length > 0 ? [['RUN', 'STATUS', 'STARTED', 'COST', 'INPUT']] : [];
  for (const line of columns([...head, ...rows])) context.stdout.write(`${line}\n`);
  if (page.cursor !== undefined) screen.line(screen.style.dim(`older ones: handrail runs --cursor ${page.cursor}`));
  return EXIT.ok;
};

/** `handrail runs show <id>` */
export const showRun: Handler = async (command, [runId = ''], raw) => {
  const { url, json } = parseOptions(baseSchema, raw);
  const run = await withConnection(command, url, 'look', ({ client }) => client.getRun(runId));
  if (json) return print(command, run);
  for (const line of describe(run)) command.context.stdout.write(`${line}\n`);
  return EXIT.ok;
};

/** `handrail runs events <id>`: the log, whole. */
export const listEvents: Handler = async (command, [runId = ''], raw) => {
  const { url, json } = parseOptions(baseSchema, raw);
  const { context, screen } = command;
  const style = context.stdout.isTTY ? screen.style : plain;
  await withConnection(command, url, 'look', async ({ client }) => {
    const seen = new Set<string>();
    for (let after = 0, more = true; more; ) {
      const page = await client.listEvents(runId, after);
      for (const event of page.events.filter(({ key }) => !seen.has(key))) {
        seen.add(event.key);
        const line = json
          ? JSON.stringify(event)
          : `${new Date(event.at).toISOString()}  ${String(event.step).padStart(3)}  ${eventLine(event, style)}`;
        context.stdout.write(`${line}\n`);
      }
      ({ next: after, more } = page);
    }
  });
  return EXIT.ok;
};

/** `handrail cancel <id>`. Without a server one is started, and the run seen to its end. */
export const cancel: Handler = async (command, [runId = ''], raw) => {
  const { url, json } = parseOptions(baseSchema, raw);
  return interruptible(command.context, (signal) =>
    withConnection(command, url, 'work', async (connection) => {
      const brief = await connection.client.cancelRun(runId);
      if (connection.kind === 'own' && !TERMINAL.includes(brief.status)) {
        await seeThrough(command, connection, runId, {
          signal,
          json,
          nonTtyPending: true,
        });
        return EXIT.ok;
      }
      if (json) return print(command, brief);
      command.context.stdout.write(
        TERMINAL.includes(brief.status)
          ? `${runId} has ended: ${brief.status}\n`
          : `${runId} is asked to end; it stands at ${brief.status}\n`,
      );
      return EXIT.ok;
    }),
  );
};

const same = (text: string): string => text;
const plain = {
  bold: same,
  dim: same,
  red: same,
  green: same,
  yellow: same,
  cyan: same,
};

function print({ context }: Command, value: unknown): typeof EXIT.ok {
  printJson(context, value);
  return EXIT.ok;
}

/** On a laptop: what it would take there. */
function awsCost({ costs }: RunView): string {
  const { transitions, transitionsUsd, lambdaUsd, dynamodbUsd } = costs;
  const usd = transitionsUsd + lambdaUsd + dynamodbUsd;
  return usd === 0 ? '' : `${money(usd)} (${transitions} transitions; Lambda and DynamoDB estimated)`;
}

function describe(run: RunView): string[] {
  const { modelMs, guardMs, queueMs, toolMs, personMs } = run.timings;
  const rows = [
    ['run', run.runId],
    ['session', run.sessionId],
    ['agent', run.agent],
    ['status', run.outcome === undefined ? run.status : `${run.status} (${run.outcome})`],
    ['started', `${new Date(run.createdAt).toISOString()} by ${oneLine(run.principal, 100)}`],
    ['ended', run.endedAt === undefined ? '' : new Date(run.endedAt).toISOString()],
    ['work', `${run.step} steps, ${run.iterations} iterations, ${run.toolCalls} tool calls`],
    ['tokens', `${run.usage.promptTokens} in, ${run.usage.completionTokens} out${run.usage.estimated ? ' (estimated)' : ''}`],
    ['cost', money(run.cost)],
    ['AWS', awsCost(run)],
    [
      'time',
      `model ${duration(modelMs)}, tools ${duration(toolMs)}, guard ${duration(guardMs)}, queue ${duration(queueMs)}, people ${duration(personMs)}`,
    ],
    [
      'effects',
      Object.entries(run.effects)
        .map(([tag, count]) => `${tag} ${count}`)
        .join(', '),
    ],
    ['at work', run.callsInFlight.map(({ tool, callId }) => `${tool} (${callId})`).join(', ')],
    ...run.approvals.map(({ approvalId, tool, reason }) => ['waits for', `${approvalId}  ${tool}: ${oneLine(reason, 200)}`]),
    ...constraintRows(run.constraints).map((text, index) => [index === 0 ? 'limits' : '', text]),
    ['error', run.error === undefined ? '' : `${run.error.code}: ${oneLine(run.error.message, 1_000)}`],
    ['input', oneLine(run.input, 500)],
  ];
  const answer = run.answer === undefined ? [] : ['', visible(run.answer).trimEnd()];
  return [...columns(rows.filter(([, value]) => value !== '')), ...answer];
}
