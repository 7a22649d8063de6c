import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import { HandrailError } from '../core/errors.ts';
import { DEPLOYMENT_NAME } from '../manifest.ts';
import { type Emulator, type EmulatorOptions, startEmulator } from './emulator.ts';
import { run } from './emulator-install.ts';

/** A deployment on an emulator, and all that a client needs to use it. */
export interface LocalDeployment {
  readonly emulator: Emulator;
  /** Base of the API's routes, without a slash at the end. */
  readonly apiUrl: string;
  /** Goes into `Authorization: Bearer …`; undefined where callers show a token of their issuer (`auth.mode: jwt`). */
  readonly secret: string | undefined;
  /** Directory of the workspaces on this machine; undefined when the emulator keeps it inside. */
  readonly workspace: string | undefined;
  readonly stateMachineArn: string;
}

export interface DeployLocalOptions extends EmulatorOptions {
  /** Configuration file, relative to the project. @default handrail.config.yaml */
  readonly config?: string;
  /** Prefix of all names. @default handrail */
  readonly name?: string;
  /** More settings of the stage, as `-c` takes them (docs/deploy.md). */
  readonly settings?: Readonly<Record<string, string>>;
}

/** Where LocalStack mounts the workspaces into functions: `LAMBDA_DOCKER_FLAGS` in docker-compose.yml. */
const LOCALSTACK_WORKSPACE = '/mnt/workspace';
const REGION = 'us-east-1';
const ACCOUNT = '000000000000';
const READY_MS = 60_000;

/**
 * Deploys to the emulator on the port, starting MiniStack if there is none, and waits until the API answers. Deploying
 * again updates. The secret stays the same while the project directory does. HandrailError SERVICE_UNAVAILABLE with the
 * end of what CDK printed.
 */
export async function deployLocal(options: DeployLocalOptions): Promise<LocalDeployment> {
  const { root, name = DEPLOYMENT_NAME, say = () => undefined } = options;
  const emulator = await startEmulator(options);
  const kept = await keptSecret(root);
  const workspace = emulator.kind === 'ministack' ? join(root, '.handrail', 'emulator-workspaces') : undefined;
  if (workspace !== undefined) await mkdir(workspace, { recursive: true, mode: 0o700 });
  const context = {
    ...options.settings,
    target: 'emulator',
    name,
    workspace: workspace ?? LOCALSTACK_WORKSPACE,
    ...(options.config === undefined ? {} : { config: options.config }),
  };
  const flags = Object.entries(context).flatMap(([key, value]) => ['-c', `${key}=${value}`]);
  if (!(await isBootstrapped(emulator))) {
    say('Bootstrapping CDK');
    await cdklocal(options, emulator, ['bootstrap', `aws://${ACCOUNT}/${REGION}`, ...flags]);
  }
  say('Deploying');
  const outputs = join(root, '.handrail', `emulator-outputs.${name}.json`);
  const secretFlag = `${name}-agent:ApiSecret=${kept}`;
  await cdklocal(options, emulator, [
    'deploy',
    '--all',
    '--require-approval',
    'never',
    '--outputs-file',
    outputs,
    '--parameters',
    secretFlag,
    ...flags,
  ]);
  const { ApiId, ApiAuth, StateMachineArn } = await readOutputs(outputs, `${name}-agent`);
  const secret = ApiAuth === 'secret' ? kept : undefined;
  const deployment = { emulator, apiUrl: apiUrlOf(emulator, ApiId), secret, workspace, stateMachineArn: StateMachineArn };
  await untilHealthy(deployment.apiUrl);
  await writePrivately(
    join(root, '.handrail', `emulator.${name}.json`),
    JSON.stringify({ url: deployment.apiUrl, secret, endpoint: emulator.endpoint }),
  );
  return deployment;
}

function apiUrlOf({ kind, endpoint, port }: Emulator, apiId: string): string {
  // Not every resolver knows `*.localhost`; LocalStack's own domain is in public DNS.
  return kind === 'ministack'
    ? `${endpoint}/_aws/execute-api/${apiId}/$default`
    : `http://${apiId}.execute-api.localhost.localstack.cloud:${port}`;
}

/** CDK leaves its version in a parameter. Asked without an SDK: emulators look at the service in the header only. */
async function isBootstrapped({ endpoint }: Emulator): Promise<boolean> {
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-amz-json-1.1',
      'x-amz-target': 'AmazonSSM.GetParameter',
      authorization: `AWS4-HMAC-SHA256 Credential=test/20200101/${REGION}/ssm/aws4_request, SignedHeaders=host, Signature=0`,
    },
    body: JSON.stringify({ Name: '/cdk-bootstrap/hnb659fds/version' }),
  });
  return response.ok;
}

async function cdklocal(
  { root, name = DEPLOYMENT_NAME }: DeployLocalOptions,
  { endpoint, port }: Emulator,
  args: readonly string[],
): Promise<void> {
  const { PATH = '', HOME, TMPDIR, USER } = process.env;
  const env = {
    ...(HOME === undefined ? {} : { HOME }),
    ...(TMPDIR === undefined ? {} : { TMPDIR }),
    ...(USER === undefined ? {} : { USER }),
    PATH: `${join(root, 'node_modules', '.bin')}:${PATH}`,
    EDGE_PORT: String(port),
    // By address, so that no name has to resolve and buckets are asked for by path.
    AWS_ENDPOINT_URL: endpoint,
    AWS_ENDPOINT_URL_S3: endpoint,
  };
  const command = join(root, 'node_modules', 'aws-cdk-local', 'bin', 'cdklocal');
  const { code, output } = await run(process.execPath, [command, ...args, '--output', join(root, 'cdk.out.emulator', name)], {
    cwd: root,
    env,
  });
  if (code !== 0) throw new HandrailError('SERVICE_UNAVAILABLE', `cdklocal ${args[0]} failed:\n${output.slice(-4_000)}`);
}

const outputsSchema = z.record(z.string(), z.record(z.string(), z.string()));
const agentOutputsSchema = z.object({ ApiId: z.string(), ApiAuth: z.enum(['secret', 'iam', 'jwt']), StateMachineArn: z.string() });

async function readOutputs(path: string, stack: string): Promise<z.infer<typeof agentOutputsSchema>> {
  return agentOutputsSchema.parse(outputsSchema.parse(JSON.parse(await readFile(path, 'utf8')))[stack]);
}

async function untilHealthy(apiUrl: string): Promise<void> {
  let last = 'no answer';
  for (const end = Date.now() + READY_MS; Date.now() < end; await sleep(200)) {
    try {
      const response = await fetch(`${apiUrl}/health`);
      if (response.ok) return;
      last = `${response.status} ${(await response.text()).slice(0, 500)}`;
    } catch (error) {
      last = error instanceof Error ? error.message : String(error);
    }
  }
  throw new HandrailError('SERVICE_UNAVAILABLE', `The API does not answer at ${apiUrl}/health: ${last}`);
}

async function keptSecret(root: string): Promise<string> {
  const path = join(root, '.handrail', 'emulator-secret');
  const kept = await readFile(path, 'utf8').catch(() => '');
  if (/^[A-Za-z0-9_-]{43}$/.test(kept)) return kept;
  const secret = randomBytes(32).toString('base64url');
  await writePrivately(path, secret);
  return secret;
}

async function writePrivately(path: string, text: string): Promise<void> {
  await writeFile(path, text, { mode: 0o600 });
  // The mode above holds for new files only.
  await chmod(path, 0o600);
}
