import type { CliContext } from './context.ts';
import type { Environment } from './environment.ts';
import type { ExitCode } from './exit-codes.ts';
import type { Screen } from './screen.ts';

/** What every command is given. */
export interface Command {
  readonly context: CliContext;
  readonly environment: Environment;
  /** stderr, so that stdout holds results only. */
  readonly screen: Screen;
}

/** One command: its positional arguments and options as typed. Resolves to the exit code. */
export type Handler = (command: Command, args: readonly string[], options: unknown) => Promise<ExitCode>;
