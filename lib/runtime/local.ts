import { randomBytes } from 'node:crypto';
import { chmod, mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { defaultProvider } from '@aws-sdk/credential-provider-node';
import { EmbeddedEngine, type EmbeddedEngineOptions } from '../adapters/engine/embedded.ts';
import { createModel } from '../adapters/models/index.ts';
import { createCodeRunner } from '../adapters/sandbox/code-runner.ts';
import { createWorkspaces } from '../adapters/sandbox/workspace.ts';
import { skillHandlers } from '../adapters/skills/child-handlers.ts';
import type { LoadedSkills } from '../adapters/skills/load.ts';
import { treeSkillsOf } from '../adapters/skills/tree-skills.ts';
import { dropExpired } from '../adapters/stores/drop-expired.ts';
import { startDynalite } from '../adapters/stores/dynalite.ts';
import { closeDynamoClient, createDynamoClient, type RequestInfo } from '../adapters/stores/dynamodb/client.ts';
import { dynamoGuardStore } from '../adapters/stores/dynamodb/guard-store.ts';
import { dynamoLinkStore } from '../adapters/stores/dynamodb/link-store.ts';
import { dynamoMemoryStore } from '../adapters/stores/dynamodb/memory-store.ts';
import { dynamoRunStore } from '../adapters/stores/dynamodb/run-store.ts';
import { createApp } from '../api/app.ts';
import { type LocalAuth, localAuth } from '../api/auth/local.ts';
import { serve } from '../api/node-server.ts';
import type { Config } from '../core/config.ts';
import { HandrailError } from '../core/errors.ts';
import type { Announcer } from '../core/guard/approvals/notify.ts';
import { suspend } from '../core/guard/approvals/suspend.ts';
import { customCheckers } from '../core/guard/custom-checkers.ts';
import type { ToolServices } from '../core/hands/category.ts';
import { outputKeeper } from '../core/hands/keep-output.ts';
import { runCall } from '../core/hands/lifecycle.ts';
import { createTools } from '../core/loop/built-in.ts';
import { builtIns } from '../core/loop/built-ins/index.ts';
import type { LoopDeps } from '../core/loop/deps.ts';
import { suspendEventSchema } from '../core/loop/plan.ts';
import { reason } from '../core/loop/reason.ts';
import { settleRun } from '../core/loop/settle.ts';
import { recoverAll, sweep } from '../core/loop/sweep.ts';
import { loopDefinition } from '../core/machine/loop.ts';
import type { Clock, Random } from '../core/ports/clock.ts';
import type { Logger } from '../core/ports/logger.ts';
import type { Model } from '../core/ports/model.ts';
import type { Notice } from '../core/ports/notices.ts';
import { functionTimeouts, toolFunctionName } from '../manifest.ts';
import { allHandlers, categories, configuredCategories } from '../tools/index.ts';
import { announcerOf } from './announcer.ts';
import { loadCheckerModules } from './checkers.ts';
import { atField, type Place } from './config.ts';
import { every } from './every.ts';
import { functionDeps } from './function-deps.ts';
import { LOCAL_TENANT, localApiServices } from './local-api.ts';
import { type LocalModelChoice, refuseUnpriced } from './local-model.ts';
import { readNamedFile } from './named-file.ts';
import { type NetworkContext, networkServices } from './network.ts';
import { claimDirectory, type ServerFile } from './server-file.ts';
import { skillMeans } from './skill-means.ts';
import { checkNames, loadConfiguredSkills } from './skills.ts';
import { laptopNotes, logNotes, startNotes } from './start-notes.ts';

const NAME = 'handrail';
const SWEEP_MS = 5_000;
const DROP_EXPIRED_MS = 60 * 60_000;

export interface LocalOptions {
  /** Database, workspaces and `server.json`; made with mode 0700. */
  readonly directory: string;
  /** 0 = any free one. */
  readonly port: number;
  readonly config: Config;
  /** Directory that paths in the configuration are relative to. */
  readonly configDirectory: string;
  /** Where its fields stand, for messages. @default the field alone */
  readonly place?: Place;
  readonly choice: LocalModelChoice;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly environment: {
    readonly ANTHROPIC_API_KEY?: string | undefined;
    readonly OPENAI_API_KEY?: string | undefined;
    readonly AWS_REGION?: string | undefined;
    readonly BRAVE_API_KEY?: string | undefined;
    readonly TAVILY_API_KEY?: string | undefined;
    readonly HANDRAIL_WEBHOOK_URL?: string | undefined;
    readonly HANDRAIL_WEBHOOK_SECRET?: string | undefined;
  };
  /** Told when somebody is asked, besides the configured channels. */
  readonly onNotice?: (notice: Notice) => void;
  /** Tests: the internet and its names. */
  readonly web?: NetworkContext['web'];
  /** Instead of the chosen LLM: tests and benchmarks. */
  readonly model?: Model;
  /** Tests shorten pauses and count transitions. */
  readonly engine?: Pick<EmbeddedEngineOptions, 'waitMs' | 'retryMs' | 'onTransition'>;
  readonly sweepMs?: number;
  /** False leaves runs of an earlier process as they are: for commands that only read. @default true */
  readonly resume?: boolean;
  readonly onRequest?: (info: RequestInfo) => void;
}

/** All there is, save what needs to be configured. */
type LocalServices = Partial<ToolServices> & Pick<ToolServices, 'workspaces'>;

export interface LocalRuntime {
  readonly url: string;
  readonly secret: string;
  readonly modelId: string;
  /** Runs of an earlier process that go on. */
  readonly recovered: number;
  /** The key of a one-time link that signs a browser in. */
  ticket(): string;
  /** Looks at everything due now, without waiting for the timer. */
  sweep(): Promise<unknown>;
  /** Lets what was begun end where it can; nothing is lost, runs go on at the next start. */
  close(): Promise<void>;
}

/**
 * The whole product in this process (design section 10): the deployed definition on the embedded engine, the deployed
 * handlers, DynamoDB by dynalite. One process owns a directory. Errors: CONFLICT with the owner's address.
 */
export async function startLocal(options: LocalOptions): Promise<LocalRuntime> {
  const { directory, config, clock, random, logger } = options;
  await makeDirectory(directory);
  const claim = await claimDirectory(directory);
  const undo: (() => Promise<unknown>)[] = [() => claim.release()];
  try {
    const dynamo = await startDynalite({ path: join(directory, 'dynamodb'), socketPath: join(directory, 'run', 'dynamodb.sock') });
    undo.unshift(() => dynamo.close());
    const client = createDynamoClient({ ...dynamo.direct, ...(options.onRequest ? { onRequest: options.onRequest } : {}) });
    undo.unshift(async () => closeDynamoClient(client));
    const tables = { client, tables: dynamo.tables, clock, random };
    const workspaces = await createWorkspaces({ root: join(directory, 'workspaces'), random, now: () => clock.now() });
    await dropExpired(tables);
    const services: LocalServices = {
      workspaces,
      memory: dynamoMemoryStore(tables, config.retention.memory_namespace_days),
      code: createCodeRunner(),
      ...localNetwork(options),
    };
    const skills = loadConfiguredSkills(config, options.configDirectory);
    checkNames(config, skills, options.configDirectory, options.place);
    const tools = createTools(configuredCategories(config), builtIns, config.security, skills.catalogue);
    logNotes(logger, [...startNotes(tools.registry, skills.catalogue), ...laptopNotes(config)]);
    const model = options.model ?? (await localModel(options));
    refuseUnpriced(config, model.id);
    const deps: LoopDeps & { readonly engine: EmbeddedEngine } = {
      runs: dynamoRunStore(tables, config.retention.runs_days),
      guard: dynamoGuardStore(tables),
      engine: createEngine(options, services, skills, () => deps),
      clock,
      random,
      logger,
      config,
      ...tools,
      skills: skills.catalogue,
      trees: treeSkillsOf(skills.catalogue),
      customCheckers: customCheckers(await loadCheckerModules(config.constraints.guard?.checkers ?? [], options.configDirectory)),
      model: async () => model,
      announcer: localAnnouncer(options, () => server.url),
      functionName: (category, tool) => toolFunctionName(NAME, category, tool),
    };
    undo.unshift(() => deps.engine.stop());
    const secret = randomBytes(32).toString('base64url');
    const auth: LocalAuth = localAuth({ secret, port: () => server.port, tenant: LOCAL_TENANT });
    const api = localApiServices(functionDeps('api', deps), dynamoLinkStore(tables), workspaces, options.choice.demo);
    const server = await serve(createApp(api, { auth }), { port: options.port });
    undo.unshift(() => server.close());
    const sweepDeps = functionDeps('sweep', deps);
    const resume = options.resume ?? true;
    const recovered = resume ? (await recoverAll(sweepDeps)).runs : 0;
    if (resume) undo.unshift(every(options.sweepMs ?? SWEEP_MS, () => sweep(sweepDeps), logger, 'sweep failed'));
    undo.unshift(every(DROP_EXPIRED_MS, () => dropExpired(tables), logger, 'expired items could not be dropped'));
    await claim.publish({ url: server.url, secret, pid: process.pid } satisfies ServerFile);
    return {
      url: server.url,
      secret,
      modelId: model.id,
      recovered,
      ticket: () => auth.ticket(),
      sweep: () => sweep(sweepDeps),
      close: once(() => closeAll(undo)),
    };
  } catch (error) {
    await closeAll(undo);
    throw error;
  }
}

async function localModel({ choice, clock, random, environment, configDirectory, place }: LocalOptions): Promise<Model> {
  const keys = {
    anthropic: environment.ANTHROPIC_API_KEY,
    'openai-compatible': environment.OPENAI_API_KEY,
    bedrock: undefined,
    scripted: undefined,
  };
  return createModel(choice.model, {
    clock,
    random,
    apiKey: async () => keys[choice.model.provider],
    readText: async (path) => atField(['models', 'default', 'script'], place, () => readNamedFile(resolve(configDirectory, path))),
    region: environment.AWS_REGION,
    awsCredentials: defaultProvider(),
  });
}

function createEngine(options: LocalOptions, services: LocalServices, skills: LoadedSkills, deps: () => LoopDeps): EmbeddedEngine {
  const { clock, logger } = options;
  const handlers = new Map([...allHandlers, ...skillHandlers(skills, (skill) => skillMeans(skill, services.workspaces, options.web))]);
  const keepWhole = outputKeeper(services.workspaces, categories);
  return new EmbeddedEngine({
    definition: loopDefinition({
      reasonFunction: `${NAME}-reason`,
      suspendFunction: `${NAME}-suspend`,
      functionTimeouts: functionTimeouts(categories, skills.catalogue),
    }),
    handlers: {
      reason: (event) => reason(functionDeps('reason', deps()), event),
      suspend: (event) => suspend(functionDeps('suspend', deps()), suspendEventSchema.parse(event)),
      // The log of a laptop is its user's own screen.
      tool: (_functionName, call, signal) =>
        runCall(call, { handlers, services, clock, logger, logText: true, signal, startTimer, keepWhole }),
    },
    ...options.engine,
    onClosed: (execution) => {
      if (execution.status !== 'FAILED') return;
      const runId = execution.name.slice(0, execution.name.lastIndexOf('-'));
      const why = `the execution failed: ${execution.error ?? 'unknown'} ${execution.cause ?? ''}`.trim().slice(0, 1000);
      settleRun(functionDeps('settle', deps()), { tenant: LOCAL_TENANT, runId }, execution.name, why).catch((error) =>
        logger.error('could not settle a run', error, { runId }),
      );
    },
  });
}

function startTimer(ms: number, callback: () => void): () => void {
  const timer = setTimeout(callback, ms);
  return () => clearTimeout(timer);
}

/** The key of the search service comes from the environment, whatever its name in Secrets Manager. */
function localNetwork({ config, environment, web }: LocalOptions): ReturnType<typeof networkServices> {
  const keys = { searxng: undefined, brave: environment.BRAVE_API_KEY, tavily: environment.TAVILY_API_KEY };
  return networkServices(config, { apiKey: async () => config.search && keys[config.search.provider], web });
}

/** The secrets of the webhook come from the environment, whatever their names in Secrets Manager. */
function localAnnouncer(
  { config, clock, random, logger, environment, onNotice }: LocalOptions,
  ownUrl: () => string,
): Announcer | undefined {
  const { HANDRAIL_WEBHOOK_URL, HANDRAIL_WEBHOOK_SECRET, AWS_REGION } = environment;
  return announcerOf(config, {
    clock,
    random,
    logger,
    region: AWS_REGION,
    secret: async (which) => (which === 'url' ? HANDRAIL_WEBHOOK_URL : HANDRAIL_WEBHOOK_SECRET),
    ownUrl,
    channels: onNotice ? [{ name: 'screen', send: async (notice) => onNotice(notice) }] : [],
  });
}

async function makeDirectory(directory: string): Promise<void> {
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await chmod(directory, 0o700);
  } catch (cause) {
    const why = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
    throw new HandrailError(
      'BAD_REQUEST',
      `the data directory ${directory} cannot be used (${why}); choose another one with HANDRAIL_HOME`,
      { cause },
    );
  }
}

async function closeAll(undo: readonly (() => Promise<unknown>)[]): Promise<void> {
  for (const close of undo) await close();
}

function once(action: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined;
  return () => (done ??= action());
}
