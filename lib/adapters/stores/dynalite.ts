import { once } from 'node:events';
import { chmod, mkdir, rm } from 'node:fs/promises';
import type { Server } from 'node:http';
import { dirname } from 'node:path';
import { CreateTableCommand, type CreateTableCommandInput, ResourceInUseException } from '@aws-sdk/client-dynamodb';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import dynalite from 'dynalite';
import { connectDirectly } from './dynalite-direct.ts';
import { closeDynamoClient, createDynamoClient, type DynamoClientOptions } from './dynamodb/client.ts';
import { type AttributeDescription, TABLE_IDS, TABLES, type TableDescription, type TableNames } from './dynamodb/tables.ts';

export interface DynaliteOptions {
  /** Directory of the database; absent = in memory. */
  readonly path?: string;
  /** Unix socket to listen on; its directory is made with mode 0700. Absent, or too long for a socket: a free port of 127.0.0.1. */
  readonly socketPath?: string;
  readonly tables?: TableNames;
}

export interface LocalDynamo {
  /** Where the database listens; spread it into {@link createDynamoClient}. */
  readonly connection: Pick<DynamoClientOptions, 'region' | 'endpoint' | 'socketPath' | 'local'>;
  /** The same, without the way through HTTP: for clients of this process. */
  readonly direct: Pick<DynamoClientOptions, 'region' | 'endpoint' | 'local' | 'direct'>;
  readonly tables: TableNames;
  /** Lets what was begun end, then closes the database. Close the clients first. */
  close(): Promise<void>;
}

const LOCAL_TABLES: TableNames = { sessions: 'sessions', guard: 'guard', memory: 'memory' };
/** `sun_path` has 104 bytes on macOS, 108 on Linux, one of them for the end. */
const SOCKET_PATH_BYTES = 103;

/** DynamoDB on a laptop (design section 10): starts it and makes the tables that are not there yet. */
export async function startDynalite(options: DynaliteOptions = {}): Promise<LocalDynamo> {
  if (options.path !== undefined) await mkdir(options.path, { recursive: true, mode: 0o700 });
  const server = dynalite({ createTableMs: 0, ...(options.path === undefined ? {} : { path: options.path }) });
  keepAliveOnBrokenRequests(server);
  // Only a server that listens closes its database, and says so.
  const connection = await listen(server, options.socketPath);
  const { handler, idle } = connectDirectly(server);
  const direct = { region: connection.region, endpoint: 'http://localhost', local: true, direct: handler };
  const tables = options.tables ?? LOCAL_TABLES;
  const close = async (): Promise<void> => {
    await idle();
    await closeServer(server);
  };
  const client = createDynamoClient(direct);
  try {
    for (const id of TABLE_IDS) await createTable(client, tables[id], TABLES[id]);
  } catch (error) {
    await close();
    throw error;
  } finally {
    closeDynamoClient(client);
  }
  return { connection, direct, tables, close };
}

/** dynalite throws in an event handler when a client goes away in the middle of a request, which would end our process. */
function keepAliveOnBrokenRequests(server: Server): void {
  server.on('request', (request) => {
    request.removeAllListeners('error');
    request.on('error', () => request.destroy());
  });
}

async function listen(server: Server, socketPath: string | undefined): Promise<LocalDynamo['connection']> {
  const base = { region: 'local', local: true };
  if (socketPath !== undefined && process.platform !== 'win32' && Buffer.byteLength(socketPath) <= SOCKET_PATH_BYTES) {
    await mkdir(dirname(socketPath), { recursive: true, mode: 0o700 });
    await chmod(dirname(socketPath), 0o700);
    // Left by a process that was killed. The directory has one owner, so nobody is listening.
    await rm(socketPath, { force: true });
    server.listen(socketPath);
    await once(server, 'listening');
    return { ...base, endpoint: 'http://localhost', socketPath };
  }
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { ...base, endpoint: `http://127.0.0.1:${port}` };
}

async function createTable(client: DynamoDBDocumentClient, name: string, table: TableDescription): Promise<void> {
  try {
    await client.send(new CreateTableCommand(tableInput(name, table)));
  } catch (error) {
    if (!(error instanceof ResourceInUseException)) throw error;
  }
}

function tableInput(name: string, table: TableDescription): CreateTableCommandInput {
  const keys = [table, ...table.indexes].flatMap(({ hash, range }) => [hash, range]);
  const attributes = [...new Map(keys.map((attribute) => [attribute.name, attribute])).values()];
  return {
    TableName: name,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: attributes.map(({ name: attribute, type }) => ({ AttributeName: attribute, AttributeType: type })),
    KeySchema: keySchema(table),
    ...(table.indexes.length === 0
      ? {}
      : {
          GlobalSecondaryIndexes: table.indexes.map((index) => ({
            IndexName: index.name,
            KeySchema: keySchema(index),
            Projection:
              index.include.length === 0
                ? { ProjectionType: 'KEYS_ONLY' }
                : { ProjectionType: 'INCLUDE', NonKeyAttributes: [...index.include] },
          })),
        }),
  };
}

function keySchema({ hash, range }: { hash: AttributeDescription; range: AttributeDescription }): CreateTableCommandInput['KeySchema'] {
  return [
    { AttributeName: hash.name, KeyType: 'HASH' },
    { AttributeName: range.name, KeyType: 'RANGE' },
  ];
}

async function closeServer(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve, reject) => server.close((error) => (error ? reject(error) : resolve())));
  server.closeIdleConnections();
  await closed;
}
