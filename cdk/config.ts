import { dirname, join } from 'node:path';
import type { Node } from 'constructs';
import * as z from 'zod';
import type { Config, ModelConfig } from '../lib/core/config.ts';
import { HandrailError } from '../lib/core/errors.ts';
import { nearestName } from '../lib/core/hands/nearest-name.ts';
import { DEFAULT_BEDROCK_MODEL, NO_WORKSPACE, WORKSPACE_MOUNT } from '../lib/manifest.ts';
import type { Place } from '../lib/runtime/config.ts';
import { DEMO_DIRECTORY } from '../lib/runtime/local-model.ts';
import { readStageConfig } from '../lib/runtime/stage-config.ts';
import { type GivenSettings, SETTING_KEYS, settingsSchema } from './settings-schema.ts';
import { BASE_STAGE, DEFAULT_STAGE, STAGES } from './stages.ts';

export interface Settings extends Omit<GivenSettings, 'config' | 'account' | 'region' | 'target'> {
  readonly stage: string;
  readonly target: 'aws' | 'emulator';
  /** Directory of the workspaces, as the functions see it; `NO_WORKSPACE` = there are none. */
  readonly workspace: string;
  /** Where the stacks belong; undefined: the template fits any account and region. */
  readonly env: { readonly account: string; readonly region: string } | undefined;
  readonly config: Config;
  /** Directory that paths in the configuration are relative to. */
  readonly configDirectory: string;
  /** Where a field of the configuration stands, for messages. */
  readonly place: Place;
}

/** What the AWS CDK found out about the credentials it has, if any. */
export interface Credentials {
  readonly account?: string | undefined;
}

/**
 * For a configuration that names no model. In AWS Amazon Bedrock, by a global inference profile, since most regions
 * offer nothing else; on an emulator the scripted demo, which needs no key.
 */
const DEFAULT_MODELS: Readonly<Record<Settings['target'], ModelConfig>> = {
  aws: { provider: 'bedrock', model: DEFAULT_BEDROCK_MODEL, max_output_tokens: 4096 },
  emulator: { provider: 'scripted', model: 'demo', script: join(DEMO_DIRECTORY, 'demo.yaml') },
};

/**
 * Settings of the stage from the app's context (`-c name=value` before `stages.<stage>` of cdk.json before the stage's own)
 * and the configuration file of `root`. HandrailError BAD_REQUEST says what is wrong, where, and what would be right.
 */
export function readSettings(node: Node, root: string, credentials: Credentials = {}): Settings {
  const stage = stageOf(node);
  const stages = stagesOf(node);
  refuseUnknownKeys(node);
  const { given, from } = gather(node, stage, stages);
  const parsed = settingsSchema.safeParse(given);
  if (!parsed.success) {
    const problems = parsed.error.issues.map((issue) => {
      const key = String(issue.path[0] ?? issue.code);
      return `context ${issue.path.join('.')}: ${issue.message} (given with ${from(key)})`;
    });
    throw new HandrailError('BAD_REQUEST', problems.join('\n'));
  }
  const { config: _config, account: _account, region: _region, ...settings } = parsed.data;
  const { config, path, place } = readStageConfig(root, stage, parsed.data.config);
  const target = parsed.data.target ?? config.target;
  refuseOpenIssuer(config.auth, target, path);
  return {
    ...settings,
    stage,
    target,
    workspace: target === 'emulator' ? settings.workspace : settings.network === 'isolated' ? WORKSPACE_MOUNT : NO_WORKSPACE,
    env: environmentOf(parsed.data, stage, credentials),
    config: withoutFiles({ ...config, models: modelsOf(config, target) }, target === 'aws' && settings.network === 'none'),
    configDirectory: dirname(path),
    place,
  };
}

function stageOf(node: Node): string {
  const parsed = z.string().default(DEFAULT_STAGE).safeParse(node.tryGetContext('stage'));
  if (parsed.success) return parsed.data;
  throw new HandrailError('BAD_REQUEST', 'context stage: is the name of a stage (given with -c stage=…, or in the context of cdk.json)');
}

const stagesSchema = z.record(z.string().regex(/^[a-z][a-z0-9-]{0,15}$/), z.record(z.string(), z.unknown()));
type Stages = z.infer<typeof stagesSchema>;

function stagesOf(node: Node): Stages {
  const parsed = stagesSchema.default({}).safeParse(node.tryGetContext('stages'));
  if (parsed.success) return parsed.data;
  throw new HandrailError('BAD_REQUEST', 'context stages: is an object of stages in cdk.json, each an object of settings');
}

/** All that was said of the stage, and where each value was said. */
function gather(node: Node, stage: string, stages: Stages): { given: Record<string, unknown>; from: (key: string) => string } {
  const known = [...new Set([...Object.keys(STAGES), ...Object.keys(stages)])];
  if (!known.includes(stage)) {
    const near = nearestName(stage, known);
    const hint = near === undefined ? '' : ` Did you mean ${near}?`;
    throw new HandrailError(
      'BAD_REQUEST',
      `context stage: there is no stage "${stage}"; there are ${known.join(', ')}.${hint} Stages of your own go under "stages" in the context of cdk.json.`,
    );
  }
  const defaults = stage in STAGES ? STAGES[stage as keyof typeof STAGES] : { ...BASE_STAGE, name: `${BASE_STAGE.name}-${stage}` };
  const inFile = stages[stage] ?? {};
  const direct = Object.fromEntries(
    SETTING_KEYS.flatMap((key) => (node.tryGetContext(key) === undefined ? [] : [[key, node.tryGetContext(key)]])),
  );
  const from = (key: string) => (key in direct || !(key in inFile) ? `-c ${key}=…` : `stages.${stage}.${key} in cdk.json`);
  for (const key of Object.keys(inFile)) refuseUnknown(key, `stages.${stage}.${key} in cdk.json`);
  return { given: { ...defaults, ...inFile, ...direct }, from };
}

/** CDK's own keys have a scope in front, but for these. */
const CDK_KEYS: readonly string[] = ['cli-telemetry', 'stage', 'stages'];

function refuseUnknownKeys(node: Node): void {
  const all = z.record(z.string(), z.unknown()).parse(node.getAllContext());
  for (const key of Object.keys(all)) if (!/[@:/]/.test(key) && !CDK_KEYS.includes(key)) refuseUnknown(key, `-c ${key}=…`);
}

function refuseUnknown(key: string, where: string): void {
  if ((SETTING_KEYS as readonly string[]).includes(key)) return;
  const near = nearestName(key, SETTING_KEYS);
  const hint = near === undefined ? `; there are stage, ${SETTING_KEYS.join(', ')}` : `; did you mean ${near}?`;
  throw new HandrailError('BAD_REQUEST', `context ${key}: there is no such setting (given with ${where})${hint}`);
}

function environmentOf({ account, region }: GivenSettings, stage: string, credentials: Credentials): Settings['env'] {
  if (account === undefined && region === undefined) return undefined;
  if (account === undefined || region === undefined) {
    const [there, missing] = account === undefined ? ['region', 'account'] : ['account', 'region'];
    throw new HandrailError(
      'BAD_REQUEST',
      `context ${missing}: is missing, since ${there} is given; stage ${stage} needs both or neither (-c ${missing}=…, or stages.${stage}.${missing} in cdk.json)`,
    );
  }
  if (credentials.account !== undefined && credentials.account !== account) {
    throw new HandrailError(
      'BAD_REQUEST',
      `context account: stage ${stage} belongs to account ${account}, and the credentials are of ${credentials.account}; choose others with AWS_PROFILE, or another stage with -c stage=…`,
    );
  }
  return { account, region };
}

/** API Gateway fetches the keys that tokens are checked with, over https only. An emulator's issuer may be on the same machine. */
function refuseOpenIssuer(auth: Config['auth'], target: Settings['target'], path: string): void {
  if (target === 'emulator' || auth.mode !== 'jwt' || auth.issuer.startsWith('https://')) return;
  throw new HandrailError('BAD_REQUEST', `${path}: auth.issuer: API Gateway needs an https:// address, not ${auth.issuer}`);
}

function modelsOf(config: Config, target: Settings['target']): Config['models'] {
  return Object.keys(config.models).length > 0 ? config.models : { default: DEFAULT_MODELS[target] };
}

/** Where there is no workspace, no tool may declare files: those that do are left out of the registry. */
function withoutFiles(config: Config, off: boolean): Config {
  return off ? { ...config, security: { ...config.security, filesystem: { read: [], write: [] } } } : config;
}
