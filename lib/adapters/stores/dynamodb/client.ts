import { Agent, type AgentOptions } from 'node:http';
import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

/** One attempt to reach the table, retries included. */
export interface RequestInfo {
  /** `GetItemCommand`, `UpdateItemCommand`, … */
  readonly operation: string;
  /** Body as sent. */
  readonly bytesSent: number;
  /** Absent when the attempt failed or the service did not say. */
  readonly capacityUnits?: number;
}

export interface DynamoClientOptions {
  readonly region: string;
  /** An emulator's address; absent = AWS. */
  readonly endpoint?: string;
  /** A unix socket that answers for `endpoint`'s host. Implies `local`. */
  readonly socketPath?: string;
  /** Sign with made-up credentials: for a database on this machine, never for AWS. */
  readonly local?: boolean;
  /** Answers in place of a network: a database of this process. Gets its requests unsigned. */
  readonly direct?: DirectHandler;
  /** Called for every attempt. Makes the service report what each request cost. */
  readonly onRequest?: (info: RequestInfo) => void;
}

/** What the SDK sends requests through. */
export type DirectHandler = Extract<NonNullable<DynamoDBClientConfig['requestHandler']>, { readonly httpHandlerConfigs: unknown }>;

/** Attempts of one request, the first included. A step makes five requests; its Lambda has to outlive them. */
const MAX_ATTEMPTS = 4;
const CONNECT_MS = 1_000;
/** A BatchWriteItem may carry 16 MB; anything slower than this is a lost connection. */
const REQUEST_MS = 10_000;

/** The client that the stores share: one per process, made by the composition root. Close it with {@link closeDynamoClient}. */
export function createDynamoClient(options: DynamoClientOptions): DynamoDBDocumentClient {
  const local = options.local === true || options.socketPath !== undefined;
  const config: DynamoDBClientConfig = {
    region: options.region,
    maxAttempts: MAX_ATTEMPTS,
    retryMode: 'standard',
    requestHandler: options.direct ?? {
      connectionTimeout: CONNECT_MS,
      requestTimeout: REQUEST_MS,
      throwOnRequestTimeout: true,
      ...(options.socketPath === undefined ? {} : { httpAgent: socketAgent(options.socketPath) }),
    },
    ...(options.endpoint === undefined ? {} : { endpoint: options.endpoint }),
    ...(local ? { credentials: { accessKeyId: 'local', secretAccessKey: 'local' } } : {}),
    ...(options.direct ? { signer: UNSIGNED } : {}),
  };
  const client = new DynamoDBClient(config);
  if (options.onRequest) observe(client, options.onRequest);
  return DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
}

/** There is nobody between, and nobody who looks at a signature. */
const UNSIGNED: NonNullable<DynamoDBClientConfig['signer']> = { sign: async (request) => request };

/** Sends every request to the socket, whatever host it names. */
function socketAgent(socketPath: string): Agent {
  // An agent hands its options on to `net.connect`, which its type does not say.
  const options: AgentOptions & { readonly socketPath: string } = { keepAlive: true, socketPath };
  return new Agent(options);
}

function observe(client: DynamoDBClient, onRequest: (info: RequestInfo) => void): void {
  client.middlewareStack.add((next) => (args) => next({ ...args, input: { ...args.input, ReturnConsumedCapacity: 'TOTAL' } }), {
    step: 'initialize',
    name: 'handrailAskForCapacity',
  });
  // Inside the retry loop and outside the deserializer: it sees each attempt and the parsed answer.
  client.middlewareStack.add(
    (next, context) => async (args) => {
      const info = { operation: String(context['commandName']), bytesSent: bodyBytes(args.request) };
      try {
        const answer = await next(args);
        const units = capacityOf(answer.output);
        onRequest(units === undefined ? info : { ...info, capacityUnits: units });
        return answer;
      } catch (error) {
        onRequest(info);
        throw error;
      }
    },
    { step: 'deserialize', name: 'handrailObserve', priority: 'high' },
  );
}

function bodyBytes(request: unknown): number {
  const body = typeof request === 'object' && request !== null && 'body' in request ? request.body : undefined;
  if (typeof body === 'string') return Buffer.byteLength(body);
  return body instanceof Uint8Array ? body.byteLength : 0;
}

/** ConsumedCapacity is one record, or one per table for batches. */
function capacityOf(output: unknown): number | undefined {
  if (typeof output !== 'object' || output === null || !('ConsumedCapacity' in output)) return undefined;
  const records: unknown[] = Array.isArray(output.ConsumedCapacity) ? output.ConsumedCapacity : [output.ConsumedCapacity];
  let units: number | undefined;
  for (const record of records) {
    if (typeof record === 'object' && record !== null && 'CapacityUnits' in record && typeof record.CapacityUnits === 'number')
      units = (units ?? 0) + record.CapacityUnits;
  }
  return units;
}

/** Closes the client's connections; the document client's own `destroy` does nothing. */
export function closeDynamoClient(client: DynamoDBDocumentClient): void {
  client.config.requestHandler.destroy?.();
}
