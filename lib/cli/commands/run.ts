import * as z from 'zod';
import type { Command, Handler } from '../command.ts';
import { type Connection, connectToRunning, withConnection } from '../connection.ts';
import { decideApprovals } from '../decisions.ts';
import { EXIT, type ExitCode, exitCodeOf } from '../exit-codes.ts';
import { Interrupted, parseOptions, usageError } from '../failure.ts';
import { followRun, PACE } from '../follow.ts';
import { interruptible } from '../interrupt.ts';
import { printJson } from '../print-json.ts';
import { showResult } from '../run-result.ts';
import { readStandardInput } from '../standard-input.ts';

/** Options of a command that starts runs. */
export const runOptions = {
  url: z.url().optional(),
  json: z.boolean().default(false),
  session: z.string().optional(),
  agent: z.string().optional(),
  maxIterations: z
    .string()
    .regex(/^[1-9]\d{0,5}$/, 'a whole number from 1')
    .transform(Number)
    .optional(),
  nonTtyPending: z.boolean().optional(),
};
const optionsSchema = z.object({ ...runOptions, idempotencyKey: z.string().optional(), wait: z.boolean().default(true) });
type Options = z.infer<typeof optionsSchema>;

/** `handrail run "<input>"`: starts a run, shows it at work, asks the person at the terminal, prints the answer. */
export const run: Handler = (command, [words = ''], raw) => {
  const options = parseOptions(optionsSchema, raw);
  return interruptible(command.context, async (signal) => {
    const input = words === '-' ? (await readStandardInput(command.context, 'handrail run - < task.md')).toString('utf8') : words;
    if (input.trim() === '') throw usageError('the input is empty: handrail run "what to do"');
    if (!options.wait && !(await connectToRunning(command, options.url)))
      throw usageError('--no-wait needs a server that goes on: start one with "handrail serve" (npm start) in another terminal');
    return withConnection(command, options.url, 'work', (connection) => runTo(command, connection, input, options, signal));
  });
};

async function runTo(command: Command, connection: Connection, input: string, options: Options, signal: AbortSignal): Promise<ExitCode> {
  const { context, screen } = command;
  if (signal.aborted) throw new Interrupted('Stopped before the run was started.');
  const started = await connection.client.startRun({
    input,
    agent: options.agent,
    sessionId: options.session,
    idempotencyKey: options.idempotencyKey,
    ...constraintsOf(options.maxIterations),
  });
  screen.line(screen.style.dim(`run ${started.runId}`));
  if (!options.wait) {
    if (options.json) printJson(context, started);
    else context.stdout.write(`${started.runId}\n`);
    return exitCodeOf('running');
  }
  return seeThrough(command, connection, started.runId, { ...options, signal });
}

/** What the options of a command say of a run's limits. */
export function constraintsOf(maxIterations: number | undefined): { readonly constraints?: { readonly max_iterations: number } } {
  return maxIterations === undefined ? {} : { constraints: { max_iterations: maxIterations } };
}

export interface SeeThroughOptions {
  readonly signal: AbortSignal;
  readonly json: boolean;
  /** Without a terminal: leave approvals to people, or reject them. Absent: as the server is configured. */
  readonly nonTtyPending?: boolean | undefined;
  /** Step whose events, and all later ones, are shown. @default all */
  readonly after?: number;
}

/** Shows a run until it ends or is left waiting, then its result and, where it goes on, how. */
export async function seeThrough(
  command: Command,
  { client, kind }: Pick<Connection, 'client' | 'kind'>,
  runId: string,
  options: SeeThroughOptions,
): Promise<ExitCode> {
  const { signal, nonTtyPending } = options;
  const onInterrupt =
    kind === 'own'
      ? `Stopped. The run is kept and goes on with the next server: "handrail serve"; "handrail cancel ${runId}" ends it.`
      : `The run goes on. See it: "handrail runs show ${runId}"; end it: "handrail cancel ${runId}".`;
  const run = await followRun({
    client,
    runId,
    screen: command.screen,
    signal,
    pace: PACE[kind],
    onInterrupt,
    ...(options.after === undefined ? {} : { after: options.after }),
    onApprovals: (waiting) => decideApprovals(command, waiting, { client, signal, nonTtyPending, onInterrupt }),
  });
  const code = showResult(command, run, options.json);
  if (code === EXIT.waiting) {
    const { screen } = command;
    screen.line('The run waits for a person:');
    for (const { approvalId } of run.approvals) screen.line(`  handrail approve ${approvalId}`);
    for (const { approvalId } of run.approvals) screen.line(`  handrail reject ${approvalId} --reason "…"`);
  }
  return code;
}
