import * as z from 'zod';
import { HandrailError } from '../../core/errors.ts';
import { isAttended } from '../ask-person.ts';
import type { Command, Handler } from '../command.ts';
import { type Connection, withConnection } from '../connection.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { Interrupted, parseOptions, reportFailure } from '../failure.ts';
import { followRun, PACE } from '../follow.ts';
import { pipedLines, typedLines } from '../input-lines.ts';
import { onInterrupt } from '../interrupt.ts';
import { showResult } from '../run-result.ts';
import { constraintsOf, runOptions, seeThrough } from './run.ts';

const optionsSchema = z.object(runOptions);
type Options = z.infer<typeof optionsSchema>;

/** `handrail chat`: a conversation, each line of which is a run of one session. */
export const chat: Handler = (command, _args, raw) => {
  const options = parseOptions(optionsSchema, raw);
  return withConnection(command, options.url, 'work', (connection) => new Chat(command, connection, options).converse());
};

class Chat {
  readonly #command: Command;
  readonly #connection: Connection;
  readonly #options: Options;
  readonly #end = new AbortController();
  #sessionId: string | undefined;
  /** Of the run at work, which Ctrl-C cancels. */
  #run: AbortController | undefined;

  constructor(command: Command, connection: Connection, options: Options) {
    this.#command = command;
    this.#connection = connection;
    this.#options = options;
    this.#sessionId = options.session;
  }

  async converse(): Promise<ExitCode> {
    const { context } = this.#command;
    const stop = onInterrupt(context, (name) => this.#interrupt(name));
    try {
      return isAttended(context) ? await this.#withPerson() : await this.#withPipe();
    } finally {
      stop();
    }
  }

  /** Ctrl-C is for the run at work. Where there is none, or it is being cancelled already, it is for the chat, like SIGTERM. */
  #interrupt(name: 'SIGINT' | 'SIGTERM'): void {
    if (this.#run?.signal.aborted) this.#command.context.exitNow(EXIT.interrupted);
    if (!this.#run || name === 'SIGTERM') this.#end.abort();
    this.#run?.abort();
  }

  /** Goes on whatever becomes of a run, until Ctrl-D. */
  async #withPerson(): Promise<ExitCode> {
    const { context, screen } = this.#command;
    const { dim } = screen.style;
    screen.line(dim('Each line is a run. Ctrl-C cancels the one at work, Ctrl-D ends.'));
    for await (const line of typedLines(context, '> ', this.#end.signal)) {
      if (line.trim() === '') continue;
      try {
        await this.#answer(line);
      } catch (error) {
        if (!(error instanceof HandrailError)) throw error;
        reportFailure(error, context, screen, this.#options.json);
      }
    }
    this.#throwIfEnded();
    screen.line();
    if (this.#sessionId !== undefined) screen.line(dim(`Go on: handrail chat --session ${this.#sessionId}`));
    return EXIT.ok;
  }

  /** Ends at the first run that does not complete: what comes after it was written for one that did. */
  async #withPipe(): Promise<ExitCode> {
    for await (const line of pipedLines(this.#command.context, this.#end.signal)) {
      const code = line.trim() === '' ? EXIT.ok : await this.#answer(line);
      this.#throwIfEnded();
      if (code !== EXIT.ok) return code;
    }
    this.#throwIfEnded();
    return EXIT.ok;
  }

  #throwIfEnded(): void {
    if (this.#end.signal.aborted) throw new Interrupted('Stopped.');
  }

  async #answer(input: string): Promise<ExitCode> {
    const { json, nonTtyPending, agent, maxIterations } = this.#options;
    const { client } = this.#connection;
    this.#run = new AbortController();
    try {
      const { runId, sessionId } = await client.startRun({
        input,
        agent,
        sessionId: this.#sessionId,
        ...constraintsOf(maxIterations),
      });
      this.#sessionId = sessionId;
      const { screen } = this.#command;
      screen.line(screen.style.dim(`run ${runId}`));
      try {
        return await seeThrough(this.#command, this.#connection, runId, { signal: this.#run.signal, json, nonTtyPending });
      } catch (error) {
        if (error instanceof Interrupted) return await this.#cancel(runId);
        throw error;
      }
    } finally {
      this.#run = undefined;
    }
  }

  async #cancel(runId: string): Promise<ExitCode> {
    const { client, kind } = this.#connection;
    const { step } = await client.getRun(runId);
    await client.cancelRun(runId);
    const run = await followRun({
      client,
      runId,
      screen: this.#command.screen,
      signal: new AbortController().signal,
      pace: PACE[kind],
      after: step,
      onInterrupt: '',
      // The cancel decides them.
      onApprovals: async () => 'decided',
    });
    return showResult(this.#command, run, this.#options.json);
  }
}
