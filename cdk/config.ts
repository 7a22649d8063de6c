import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Node } from 'constructs';
import * as z from 'zod';
import type { Config, ModelConfig } from '../lib/core/config.ts';
import { HandrailError } from '../lib/core/errors.ts';
import { DEPLOYMENT_NAME, WORKSPACE_MOUNT } from '../lib/manifest.ts';
import { loadConfig } from '../lib/runtime/config.ts';
import { DEMO_DIRECTORY } from '../lib/runtime/local-model.ts';

/** What a deployment is made from, besides `handrail.config.yaml`: CDK context, `-c name=value`. */
const settingsSchema = z.strictObject({
  /** Configuration file, relative to the project. */
  config: z.string().min(1).default('handrail.config.yaml'),
  /** Prefix of every name, so that several deployments fit into one account. Functions have 64 characters for theirs. */
  name: z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,23}$/, 'begins with a letter, then up to 23 of a-z 0-9 -')
    .default(DEPLOYMENT_NAME),
  /** Instead of the configuration's `target`. */
  target: z.enum(['aws', 'emulator']).optional(),
  /** Days that logs are kept. Execution logs hold no data; function logs hold no arguments and no results. */
  logDays: z.coerce
    .number()
    .pipe(z.union([1, 3, 5, 7, 14, 30, 60, 90, 120, 180, 365, 400, 545, 731].map((days) => z.literal(days))))
    .default(90),
  /** Emulator only: directory of the workspaces, as the emulator's functions see it. */
  workspace: z.string().startsWith('/', 'is an absolute path').default('/tmp/handrail-workspace'),
});
type ContextKey = keyof z.infer<typeof settingsSchema>;

export interface Settings {
  readonly name: string;
  readonly target: 'aws' | 'emulator';
  readonly logDays: number;
  /** Directory of the workspaces, as the functions see it. */
  readonly workspace: string;
  readonly config: Config;
  /** Directory that paths in the configuration are relative to. */
  readonly configDirectory: string;
}

/**
 * For a configuration that names no model. In AWS Amazon Bedrock, by a global inference profile, since most regions
 * offer nothing else; on an emulator the scripted demo, which needs no key.
 */
const DEFAULT_MODELS: Readonly<Record<Settings['target'], ModelConfig>> = {
  aws: { provider: 'bedrock', model: 'global.anthropic.claude-sonnet-4-5-20250929-v1:0', max_output_tokens: 4096 },
  emulator: { provider: 'scripted', model: 'demo', script: join(DEMO_DIRECTORY, 'demo.yaml') },
};

/** Settings from the app's context and the configuration file of `root`. HandrailError BAD_REQUEST says which and where. */
export function readSettings(node: Node, root: string): Settings {
  const keys = Object.keys(settingsSchema.shape) as ContextKey[];
  const given = Object.fromEntries(keys.flatMap((key) => (node.tryGetContext(key) === undefined ? [] : [[key, node.tryGetContext(key)]])));
  const parsed = settingsSchema.safeParse(given);
  if (!parsed.success) {
    const text = parsed.error.issues.map(
      (issue) => `context ${issue.path.join('.')}: ${issue.message} (given with -c ${issue.path.join('.')}=…)`,
    );
    throw new HandrailError('BAD_REQUEST', text.join('\n'));
  }
  const path = resolve(root, parsed.data.config);
  const config = loadConfig(path, readIfThere);
  if (node.tryGetContext('config') !== undefined && readIfThere(path) === undefined) {
    throw new HandrailError('BAD_REQUEST', `there is no configuration file ${path}`);
  }
  const target = parsed.data.target ?? config.target;
  return {
    name: parsed.data.name,
    target,
    logDays: parsed.data.logDays,
    workspace: target === 'aws' ? WORKSPACE_MOUNT : parsed.data.workspace,
    config: Object.keys(config.models).length > 0 ? config : { ...config, models: { default: DEFAULT_MODELS[target] } },
    configDirectory: dirname(path),
  };
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
