import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type * as z from 'zod';
import { createDynamoClient } from '../adapters/stores/dynamodb/client.ts';
import type { DynamoDeps } from '../adapters/stores/dynamodb/requests.ts';
import { CONFIG_FILE, type EnvKey } from '../manifest.ts';
import { readEnvironment } from './env.ts';
import { spansTo } from './spans.ts';
import { systemClock as clock, systemRandom as random } from './system.ts';

/** A Lambda's handler as Node's runtime calls it. */
export type LambdaHandler = (event: unknown) => Promise<unknown>;

/** Of the handler, and of what lies beside it. */
export const directory = dirname(fileURLToPath(import.meta.url));

/** Makes what a Lambda needs at its first call, once: a function that cannot start says so in every answer's place. */
export function lazily<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}

/** What the manifest promised this function. */
export const environment = <Key extends EnvKey>(...keys: Key[]) => readEnvironment(keys, process.env);
export const region = (): string => process.env['AWS_REGION'] ?? 'us-east-1';
/** X-Ray's header of this invocation, as Lambda's runtime gives it: `Root=…;Parent=…;Sampled=…`. */
export const traceHeader = (): string | undefined => process.env['_X_AMZN_TRACE_ID'];
/** Pieces of this invocation's work, on its trace. */
export const span = spansTo({ trace: traceHeader, daemon: () => process.env['AWS_XRAY_DAEMON_ADDRESS'], now: clock.now });
/** Emulators say where they are by the variables that the SDK reads itself. */
export const dynamo = (tables: DynamoDeps['tables']): DynamoDeps => ({
  client: createDynamoClient({ region: region() }),
  tables,
  clock,
  random,
});

/** All of the configuration, or the part of it that a function is about. */
export async function loadDeployed<Schema extends z.ZodType>(schema: Schema, file = CONFIG_FILE): Promise<z.output<Schema>> {
  return schema.parse(JSON.parse(await readFile(join(directory, file), 'utf8')));
}

/** Values of secrets by name or ARN. */
export function secretReader(): (name: string) => Promise<string | undefined> {
  const secrets = new SecretsManagerClient({ region: region() });
  return async (name) => (await secrets.send(new GetSecretValueCommand({ SecretId: name }))).SecretString;
}
