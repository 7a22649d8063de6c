import type { STSClientConfig } from '@aws-sdk/client-sts';
import { type ModelAccess, modelAccess } from './model-access.ts';

export interface AwsAccountOptions {
  /** Absent: as the SDK finds it, in the environment or the profile. */
  readonly region?: string | undefined;
  /** An emulator's address, or a test's; absent = AWS. */
  readonly endpoint?: string | undefined;
  /** Absent: as the SDK finds them. */
  readonly credentials?: NonNullable<STSClientConfig['credentials']> | undefined;
}

/** What an account has and lets us use, asked with as few and as harmless requests as there are. Errors are the SDK's. */
export interface AwsAccount {
  /** The region that requests go to. Throws when none is set. */
  region(): Promise<string>;
  identity(): Promise<{ readonly account: string; readonly arn: string }>;
  /** Version of CDK's bootstrap stack; undefined when there is none. */
  bootstrapVersion(qualifier: string): Promise<number | undefined>;
  /** Whether the account may use a model of Bedrock in the region, by id, inference profile or ARN, and if not, why. */
  modelAccess(model: string, region?: string): Promise<ModelAccess>;
  /** False when there is no such secret. Its value is never read. */
  hasSecret(name: string): Promise<boolean>;
  /** Lambda executions at a time, of the account in the region, and those not reserved by a function. */
  lambdaConcurrency(): Promise<{ readonly limit: number; readonly unreserved: number }>;
}

/** Attempts and ms of a request: somebody waits for it. */
const PATIENCE = { maxAttempts: 2, requestHandler: { connectionTimeout: 3_000, requestTimeout: 10_000 } } as const;

/** Clients are loaded when they are asked. */
export function awsAccount(options: AwsAccountOptions = {}): AwsAccount {
  const { region, endpoint, credentials } = options;
  const config = {
    ...PATIENCE,
    ...(region === undefined ? {} : { region }),
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(credentials === undefined ? {} : { credentials }),
  };
  const regionSet = async (): Promise<string> => new (await import('@aws-sdk/client-sts')).STSClient(config).config.region();
  return {
    region: regionSet,
    async identity() {
      const sdk = await import('@aws-sdk/client-sts');
      // Who somebody is does not depend on the region, so a missing one is no reason not to say it.
      const client = new sdk.STSClient({ ...config, region: await regionSet().catch(() => 'us-east-1') });
      const { Account = '', Arn = '' } = await client.send(new sdk.GetCallerIdentityCommand({}));
      return { account: Account, arn: Arn };
    },
    async bootstrapVersion(qualifier) {
      const sdk = await import('@aws-sdk/client-ssm');
      const name = `/cdk-bootstrap/${qualifier}/version`;
      try {
        const { Parameter } = await new sdk.SSMClient(config).send(new sdk.GetParameterCommand({ Name: name }));
        return Number(Parameter?.Value);
      } catch (error) {
        if (error instanceof sdk.ParameterNotFound) return undefined;
        throw error;
      }
    },
    async modelAccess(model, where) {
      const sdk = await import('@aws-sdk/client-bedrock');
      const client = new sdk.BedrockClient({ ...config, ...(where === undefined ? {} : { region: where }) });
      return modelAccess(sdk, client, model);
    },
    async hasSecret(name) {
      const sdk = await import('@aws-sdk/client-secrets-manager');
      try {
        const { DeletedDate } = await new sdk.SecretsManagerClient(config).send(new sdk.DescribeSecretCommand({ SecretId: name }));
        return DeletedDate === undefined;
      } catch (error) {
        if (error instanceof sdk.ResourceNotFoundException) return false;
        throw error;
      }
    },
    async lambdaConcurrency() {
      const sdk = await import('@aws-sdk/client-lambda');
      const { AccountLimit } = await new sdk.LambdaClient(config).send(new sdk.GetAccountSettingsCommand({}));
      return { limit: AccountLimit?.ConcurrentExecutions ?? 0, unreserved: AccountLimit?.UnreservedConcurrentExecutions ?? 0 };
    },
  };
}
