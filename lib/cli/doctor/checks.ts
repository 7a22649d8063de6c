import type { AwsAccount } from '../../adapters/aws-account/aws-account.ts';
import type { Config, ModelConfig } from '../../core/config.ts';
import { HandrailError } from '../../core/errors.ts';
import { DEFAULT_BEDROCK_MODEL } from '../../manifest.ts';

/** `skipped`: it could not be asked, because something before it is missing. */
export type CheckStatus = 'ok' | 'warn' | 'fail' | 'skipped';

export interface Check {
  readonly name: string;
  readonly status: CheckStatus;
  /** What was found. */
  readonly detail: string;
  /** What to do; only where there is something. */
  readonly fix?: string;
}

export interface Configured {
  /** Name of the file. */
  readonly file: string;
  readonly config: Config;
  /** What it leaves out; a line each. */
  readonly notes: readonly string[];
}

export interface DoctorInput {
  /** As `process.versions.node`. */
  readonly nodeVersion: string;
  /** Throws a HandrailError that names the line. */
  readConfig(): Configured;
  readonly account: AwsAccount;
  readonly qualifier?: string | undefined;
}

const NODE_MAJOR = 24;
/** CDK's own default. */
const QUALIFIER = 'hnb659fds';
/** What `aws-cdk-lib` of today asks of the bootstrap stack of an account (default synthesizer). */
const BOOTSTRAP_VERSION = 6;
/** New accounts begin with as few as ten: a run at work holds one of them, a call in flight another. */
const LAMBDA_CONCURRENCY = 100;

/** All that a deployment needs, in the order in which it needs it. Never throws: what cannot be asked is a check too. */
export async function diagnose(input: DoctorInput): Promise<Check[]> {
  const { config, check } = checkConfig(input);
  const local = [checkNode(input.nodeVersion), check];
  const [region, identity] = await Promise.all([checkRegion(input.account), checkCredentials(input.account)]);
  const names = ['bootstrap', ...modelsOf(config).map(({ name }) => `model ${name}`), 'Lambda concurrency'];
  const found = [...local, identity.check, region];
  if (region.status !== 'ok' || identity.account === undefined)
    return [...found, ...names.map((name): Check => ({ name, status: 'skipped', detail: 'needs credentials and a region' }))];
  return [
    ...found,
    ...(await Promise.all([
      checkBootstrap(input, `aws://${identity.account}/${region.detail}`),
      ...modelsOf(config).map(({ name, model }) => checkModel(input.account, name, model)),
      checkConcurrency(input.account),
    ])),
  ];
}

function checkNode(version: string): Check {
  const ok = Number(version.split('.', 1)[0]) >= NODE_MAJOR;
  const fix = 'run npm install: the project brings its own Node, and "npx handrail" uses it';
  return { name: 'Node', status: ok ? 'ok' : 'fail', detail: `version ${version}`, ...(ok ? {} : { fix }) };
}

function checkConfig({ readConfig }: DoctorInput): { config: Config | undefined; check: Check } {
  const name = 'configuration';
  try {
    const { file, config, notes } = readConfig();
    const detail = `${file}: ${Object.keys(config.agents).length} agent(s), checked`;
    if (notes.length === 0) return { config, check: { name, status: 'ok', detail } };
    const fix = `where that is not meant, correct ${file} or the skill; "handrail tools" lists what is left`;
    return { config, check: { name, status: 'warn', detail: notes.join(' | '), fix } };
  } catch (error) {
    return { config: undefined, check: { name, status: 'fail', detail: messageOf(error), fix: 'correct the configuration at that place' } };
  }
}

async function checkCredentials(account: AwsAccount): Promise<{ check: Check; account?: string }> {
  const name = 'credentials';
  try {
    const { account: id, arn } = await account.identity();
    return { check: { name, status: 'ok', detail: `${arn} in account ${id}` }, account: id };
  } catch (error) {
    const expired = /expired|InvalidClientTokenId|SignatureDoesNotMatch/i.test(`${nameOf(error)} ${messageOf(error)}`);
    const none = /credential/i.test(nameOf(error));
    const fix = expired
      ? 'sign in again: aws sso login, or new keys'
      : 'set AWS_PROFILE to a profile of ~/.aws/config ("aws configure sso" makes one), or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY';
    return { check: { name, status: 'fail', detail: none ? 'there are none' : messageOf(error), fix } };
  }
}

async function checkRegion(account: AwsAccount): Promise<Check> {
  const name = 'region';
  try {
    return { name, status: 'ok', detail: await account.region() };
  } catch {
    return { name, status: 'fail', detail: 'none is set', fix: 'export AWS_REGION=eu-west-1, or "region" in the profile' };
  }
}

async function checkBootstrap({ account, qualifier = QUALIFIER }: DoctorInput, environment: string): Promise<Check> {
  const name = 'bootstrap';
  const fix = `npx cdk bootstrap ${environment}`;
  return attempt(name, async () => {
    const version = await account.bootstrapVersion(qualifier);
    if (version === undefined) return { name, status: 'fail', detail: `${environment} is not bootstrapped for CDK`, fix };
    const ok = version >= BOOTSTRAP_VERSION;
    return {
      name,
      status: ok ? 'ok' : 'fail',
      detail: `version ${version}${ok ? '' : `, ${BOOTSTRAP_VERSION} is needed`}`,
      ...(ok ? {} : { fix }),
    };
  });
}

async function checkModel(account: AwsAccount, name: string, model: ModelConfig): Promise<Check> {
  const title = `model ${name}`;
  switch (model.provider) {
    case 'bedrock':
      return attempt(title, async () => {
        const { state, why } = await account.modelAccess(model.model, model.region);
        if (state === 'usable') return { name: title, status: 'ok', detail: model.model };
        if (state === 'unknown') return { name: title, status: 'warn', detail: `${model.model}: ${why}`, fix: 'try it once deployed' };
        const fix = 'ask for access in the Bedrock console (Model access), or name another model in handrail.config.yaml';
        return { name: title, status: 'fail', detail: `${model.model}: ${why}`, fix };
      });
    case 'anthropic':
    case 'openai-compatible': {
      const secret = model.api_key_secret;
      if (secret === undefined)
        return { name: title, status: 'warn', detail: `${model.model} has no api_key_secret`, fix: 'name the secret that holds its key' };
      return attempt(title, async () =>
        (await account.hasSecret(secret))
          ? { name: title, status: 'ok', detail: `${model.model}, key in the secret ${secret}` }
          : {
              name: title,
              status: 'fail',
              detail: `there is no secret ${secret}`,
              fix: `aws secretsmanager create-secret --name ${secret} --secret-string file://key.txt`,
            },
      );
    }
    case 'scripted':
      return { name: title, status: 'warn', detail: 'a scripted model only plays a script', fix: 'name a real model for more than a demo' };
  }
}

async function checkConcurrency(account: AwsAccount): Promise<Check> {
  const name = 'Lambda concurrency';
  return attempt(name, async () => {
    const { limit, unreserved } = await account.lambdaConcurrency();
    const ok = unreserved >= LAMBDA_CONCURRENCY;
    const detail = `${unreserved} of ${limit} not reserved`;
    return ok
      ? { name, status: 'ok', detail }
      : {
          name,
          status: 'warn',
          detail,
          fix: 'ask for more under Service Quotas › AWS Lambda › Concurrent executions; docs/scale.md says how many',
        };
  });
}

/** A right that the caller lacks is no fault of the deployment; it only leaves the question open. */
async function attempt(name: string, work: () => Promise<Check>): Promise<Check> {
  try {
    return await work();
  } catch (error) {
    const denied = /AccessDenied|Unauthorized|not authorized/i.test(`${nameOf(error)} ${messageOf(error)}`);
    return denied
      ? { name, status: 'warn', detail: 'these credentials may not look', fix: messageOf(error) }
      : { name, status: 'fail', detail: messageOf(error), fix: 'try again; if it stays, look at the network and at the health of AWS' };
  }
}

/** Where the configuration names none, that is what gets deployed. A broken configuration names nothing. */
function modelsOf(config: Config | undefined): { name: string; model: ModelConfig }[] {
  if (config === undefined) return [];
  const models = Object.entries(config.models).map(([name, model]) => ({ name, model }));
  return models.length > 0
    ? models
    : [{ name: 'default', model: { provider: 'bedrock', model: DEFAULT_BEDROCK_MODEL, max_output_tokens: 4096 } }];
}

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : '');

function messageOf(error: unknown): string {
  if (error instanceof HandrailError) return error.message;
  return (error instanceof Error ? error.message || error.name : String(error)).slice(0, 500);
}
