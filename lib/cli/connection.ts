import { type ApiClient, createClient } from './client.ts';
import type { Command } from './command.ts';
import { counted } from './display-text.ts';
import { usageError } from './failure.ts';

/** Where a command finds its server, and what it must give back at the end. */
export interface Connection {
  readonly client: ApiClient;
  /** `deployed`: others use it too. `running`: this laptop's server. `own`: started for this command, ends with it. */
  readonly kind: 'deployed' | 'running' | 'own';
  close(): Promise<void>;
}

/**
 * The server to use: the address given (`--url`, HANDRAIL_URL; its secret is HANDRAIL_SECRET), else the one that owns
 * the data directory, else one in this process. `resume: false` is for commands that only read.
 */
async function connect(command: Command, url: string | undefined, own: { readonly resume: boolean }): Promise<Connection> {
  const { screen } = command;
  const running = await connectToRunning(command, url);
  if (running) return running;
  screen.status(() => 'starting');
  const { startOwnServer } = await import('./own-server.ts');
  const { runtime, because } = await startOwnServer(command, { port: 0, resume: own.resume, log: 'error' });
  screen.status(undefined);
  if (own.resume) {
    screen.line(screen.style.dim(`model ${runtime.modelId} (${because})`));
    if (runtime.recovered > 0)
      screen.line(screen.style.dim(`${counted(runtime.recovered, 'run')} of an earlier process may go on while this command runs`));
  }
  return {
    kind: 'own',
    client: createClient(runtime),
    close: () => runtime.close(),
  };
}

/** The same, but none is started. */
export async function connectToRunning({ environment }: Command, url: string | undefined): Promise<Connection | undefined> {
  const address = url ?? environment.HANDRAIL_URL;
  if (address !== undefined) {
    const secret = environment.HANDRAIL_SECRET;
    if (secret === undefined) throw usageError(`HANDRAIL_SECRET is not set: ${address} needs its secret`);
    return {
      kind: 'deployed',
      client: createClient({ url: address, secret }),
      close: async () => undefined,
    };
  }
  const { findServer } = await import('../runtime/server-file.ts');
  const found = await findServer(environment.directory);
  return (
    found && {
      kind: 'running',
      client: createClient(found),
      close: async () => undefined,
    }
  );
}
/** Runs `work` with a server and gives the server back, however that ends. */
export async function withConnection<T>(
  command: Command,
  url: string | undefined,
  own: { readonly resume: boolean },
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  const connection = await connect(command, url, own);
  try {
    return await work(connection);
  } finally {
    command.screen.status(undefined);
    await connection.close();
  }
}
