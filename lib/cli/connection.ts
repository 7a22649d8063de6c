import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ApiClient, createClient } from './client.ts';
import type { Command } from './command.ts';
import { credentialFor } from './credential.ts';
import { counted } from './display-text.ts';

/** Where a command finds its server, and what it must give back at the end. */
export interface Connection {
  readonly client: ApiClient;
  /** `deployed`: others use it too. `running`: this laptop's server. `own`: started for this command, ends with it. */
  readonly kind: 'deployed' | 'running' | 'own';
  close(): Promise<void>;
}

/**
 * What a command is to a server of its own. `look`: reads, and leaves no data directory where there was none. `change`:
 * writes, and runs of an earlier process stay as they are. `work`: these go on.
 */
type Use = 'look' | 'change' | 'work';

/**
 * The server to use: the address given (`--url`, HANDRAIL_URL; see `credentialFor`), else the one that owns
 * the data directory, else one in this process.
 */
async function connect(command: Command, url: string | undefined, use: Use): Promise<Connection> {
  const { screen } = command;
  const running = await connectToRunning(command, url);
  if (running) return running;
  screen.status(() => 'starting');
  const { startOwnServer } = await import('./own-server.ts');
  const data = use === 'look' ? await dataToLookAt(command) : dataOf(command);
  const resume = use === 'work';
  const { runtime, because } = await startOwnServer(data.command, { port: 0, resume, log: 'error' }).catch(async (error: unknown) => {
    await data.close();
    throw error;
  });
  screen.status(undefined);
  if (resume) {
    screen.line(screen.style.dim(`model ${runtime.modelId} (${because})`));
    if (runtime.recovered > 0)
      screen.line(screen.style.dim(`${counted(runtime.recovered, 'run')} of an earlier process may go on while this command runs`));
  }
  return {
    kind: 'own',
    client: createClient(runtime),
    close: async () => {
      await runtime.close();
      await data.close();
    },
  };
}

interface Data {
  readonly command: Command;
  close(): Promise<void>;
}

const dataOf = (command: Command): Data => ({ command, close: async () => undefined });

/** Where there is no data directory yet, an empty one that goes with the command. */
async function dataToLookAt(command: Command): Promise<Data> {
  const { environment, screen } = command;
  if (existsSync(environment.directory)) return dataOf(command);
  screen.line(screen.style.dim(`there is no data directory ${environment.directory} yet: nothing has run here`));
  const directory = await mkdtemp(join(tmpdir(), 'handrail-'));
  return {
    command: { ...command, environment: { ...environment, directory } },
    close: () => rm(directory, { recursive: true, force: true }),
  };
}

/** The same, but none is started. */
export async function connectToRunning({ environment }: Command, url: string | undefined): Promise<Connection | undefined> {
  const address = url ?? environment.HANDRAIL_URL;
  if (address !== undefined) {
    return {
      kind: 'deployed',
      client: createClient({ url: address, credential: await credentialFor(address, environment) }),
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
  use: Use,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  const connection = await connect(command, url, use);
  try {
    return await work(connection);
  } finally {
    command.screen.status(undefined);
    await connection.close();
  }
}
