import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { SFNClient } from '@aws-sdk/client-sfn';
import { defaultProvider } from '@aws-sdk/credential-provider-node';
import * as z from 'zod';
import { StepFunctionsEngine } from '../adapters/engine/step-functions.ts';
import { eventBridgeBus } from '../adapters/event-bus/eventbridge.ts';
import { createModel } from '../adapters/models/index.ts';
import type { ModelContext } from '../adapters/models/provider.ts';
import { lambdaSessionFiles } from '../adapters/session-files/lambda.ts';
import { noFiles } from '../adapters/session-files/none.ts';
import { treeSkillsOf } from '../adapters/skills/tree-skills.ts';
import { dynamoGuardStore } from '../adapters/stores/dynamodb/guard-store.ts';
import { dynamoLinkStore } from '../adapters/stores/dynamodb/link-store.ts';
import { oldestPendingMs } from '../adapters/stores/dynamodb/oldest-pending.ts';
import { dynamoRunStore } from '../adapters/stores/dynamodb/run-store.ts';
import { createApp } from '../api/app.ts';
import { lambdaHandler } from '../api/lambda.ts';
import { type AgentConfig, type Config, configSchema } from '../core/config.ts';
import { HandrailError } from '../core/errors.ts';
import { suspend } from '../core/guard/approvals/suspend.ts';
import { type CheckerModule, customCheckers } from '../core/guard/custom-checkers.ts';
import { runIdSchema, tenantSchema } from '../core/ids.ts';
import { SWEEP } from '../core/limits.ts';
import { createTools } from '../core/loop/built-in.ts';
import { builtIns } from '../core/loop/built-ins/index.ts';
import type { LoopDeps } from '../core/loop/deps.ts';
import { sweepMetrics } from '../core/loop/metrics.ts';
import { suspendEventSchema } from '../core/loop/plan.ts';
import { reason } from '../core/loop/reason.ts';
import { settleRun } from '../core/loop/settle.ts';
import { sweep } from '../core/loop/sweep.ts';
import type { Engine } from '../core/ports/engine.ts';
import type { Model } from '../core/ports/model.ts';
import type { RunStore } from '../core/ports/run-store.ts';
import { noSkills, skillCatalogueSchema } from '../core/skills/skill.ts';
import type { CoreFunctionName } from '../function-use.ts';
import { ENV, NO_WORKSPACE, SKILLS_FILE, toolFunctionName } from '../manifest.ts';
import { configuredCategories } from '../tools/index.ts';
import { announcerOf } from './announcer.ts';
import { apiServices } from './api-services.ts';
import { deployedAuth } from './aws-auth.ts';
import {
  directory,
  dynamo,
  environment,
  type LambdaHandler,
  lazily,
  loadDeployed,
  region,
  secretReader,
  span,
  traceHeader,
} from './aws-environment.ts';
import { observation, observed } from './aws-observation.ts';
import { eventFields } from './event-fields.ts';
import { functionDeps } from './function-deps.ts';
import { publishedRuns } from './published-runs.ts';
import { logNotes, startNotes } from './start-notes.ts';
import { systemClock as clock, systemRandom as random } from './system.ts';

const targetSchema = configSchema.shape.target;
const loadDeployedConfig = (): Promise<Config> => loadDeployed(configSchema);

/** Stands where a function has no right to the engine; using it is a fault of ours. */
const noEngine: Engine = {
  start: () => Promise.reject(new HandrailError('INTERNAL', 'this function may not start executions')),
  sendTaskSuccess: () => Promise.reject(new HandrailError('INTERNAL', 'this function may not answer tokens')),
  status: () => Promise.reject(new HandrailError('INTERNAL', 'this function may not look at executions')),
};

async function loopDeps(name: CoreFunctionName, engine: Engine, model: LoopDeps['model'], prefix: string): Promise<LoopDeps> {
  const { sessionsTable: sessions, guardTable: guard } = environment('sessionsTable', 'guardTable');
  const tables = dynamo({ sessions, guard, memory: '' });
  const config = await loadDeployedConfig();
  const skills = await loadDeployed(skillCatalogueSchema, SKILLS_FILE);
  return functionDeps(name, {
    runs: publishing(config, observation().runs(dynamoRunStore(tables, config.retention.runs_days))),
    guard: observation().guard(dynamoGuardStore(tables)),
    engine,
    clock,
    random,
    logger: observation().logger,
    config,
    ...createTools(configuredCategories(config), builtIns, config.security, skills),
    skills,
    model,
    functionName: (category, tool) => toolFunctionName(prefix, category, tool),
  });
}

/** `runs` that tells the configured bus; there is none by default. */
function publishing({ events }: Config, runs: RunStore): RunStore {
  if (events.bus === undefined) return runs;
  // A run waits for the bus, so one retry and no long wait.
  const client = new EventBridgeClient({ region: region(), maxAttempts: 2 });
  const { logger } = observation();
  return publishedRuns(runs, eventBridgeBus({ client, bus: events.bus, logger, fields: (event) => eventFields(event, events.text) }));
}

const noModel: LoopDeps['model'] = () => Promise.reject(new HandrailError('INTERNAL', 'this function may not call models'));
const engineOf = (stateMachineArn: string): Engine =>
  new StepFunctionsEngine(new SFNClient({ region: region() }), stateMachineArn, traceHeader);

/** For the functions that begin trees or tick them; the others end runs without looking into one. */
const withTrees = (deps: LoopDeps): LoopDeps => ({ ...deps, trees: treeSkillsOf(deps.skills ?? noSkills) });

/** Step Functions → one step of a run. `checkers`: the modules that the configuration names, as they were bundled. */
export function reasonLambda(checkers: readonly CheckerModule[]): LambdaHandler {
  const deps = lazily(async () => {
    const { functionPrefix } = environment('functionPrefix');
    const config = await loadDeployedConfig();
    const wanted = config.constraints.guard?.checkers ?? [];
    // A guard that lost a part of itself on the way here must not go on without it.
    if (wanted.join() !== checkers.map(({ path }) => path).join())
      throw new HandrailError('INTERNAL', `the bundle has not the checkers that the configuration names: ${wanted.join(', ')}`);
    const made = await loopDeps('reason', noEngine, modelsOf(config), functionPrefix);
    logNotes(made.logger, startNotes(made.registry, made.skills ?? noSkills));
    return { ...withTrees(made), customCheckers: customCheckers(checkers) };
  });
  return observed(async (event) => reason(await deps(), event));
}

/** For the functions that tell people. */
async function announcingDeps(name: 'suspend' | 'sweep'): Promise<LoopDeps> {
  const { stateMachineArn, apiUrl } = environment('stateMachineArn', 'apiUrl');
  const deps = await loopDeps(name, engineOf(stateMachineArn), noModel, '');
  const read = secretReader();
  const topic = process.env[ENV.approvalsTopic];
  const context = { clock, random, logger: deps.logger, region: region(), ownUrl: () => apiUrl, topics: topic ? [topic] : [] };
  return { ...deps, announcer: announcerOf(deps.config, { ...context, secret: (_which, name) => read(name) }) };
}

/** The configured LLMs, each made once. */
function modelsOf(config: Config): (agent: AgentConfig) => Promise<Model> {
  const secret = secretReader();
  const context: ModelContext = {
    clock,
    random,
    apiKey: async (name) => (name === undefined ? undefined : secret(name)),
    readText: (path) => readFile(join(directory, path), 'utf8'),
    region: region(),
    awsCredentials: defaultProvider(),
  };
  const made = new Map<string, Promise<Model>>();
  return (agent) => {
    const model = config.models[agent.model];
    if (!model) throw new HandrailError('INTERNAL', `the configuration has no model "${agent.model}"`);
    const known = made.get(agent.model) ?? createModel(model, context).then(traced);
    made.set(agent.model, known);
    known.catch(() => made.delete(agent.model));
    return known;
  };
}

/** Each call of the LLM is a span of its own: most of a step's time goes there. */
function traced(model: Model): Model {
  return { id: model.id, generate: (request) => span('llm', { model: model.id }, () => model.generate(request)) };
}

/** Step Functions → takes a task token, tells people. */
export function suspendLambda(): LambdaHandler {
  const deps = lazily(() => announcingDeps('suspend'));
  return observed(async (event) => suspend(await deps(), suspendEventSchema.parse(event)));
}

const statusEventSchema = z.object({ detail: z.object({ name: z.string(), status: z.string(), input: z.string().nullish() }) });
const executionInputSchema = z.object({ ctx: z.object({ tenant: tenantSchema, runId: runIdSchema }) });

/** EventBridge, execution status change → ends the run of an execution that failed. */
export function settleLambda(): LambdaHandler {
  const deps = lazily(() => loopDeps('settle', engineOf(environment('stateMachineArn').stateMachineArn), noModel, ''));
  return observed(async (event) => {
    const { name, status, input } = statusEventSchema.parse(event).detail;
    const parsed = executionInputSchema.safeParse(input ? JSON.parse(input) : undefined);
    // Without input (it was too large for the event) sweep comes to it.
    if (!parsed.success) return { settled: false };
    const run = await settleRun(await deps(), parsed.data.ctx, name, `the execution ended as ${status}`);
    return { settled: run !== undefined };
  });
}

/** Every minute → settles what nobody else will, and says how long people have been waited for. */
export function sweepLambda(): LambdaHandler {
  const deps = lazily(() => announcingDeps('sweep'));
  const tables = lazily(async () => dynamo({ sessions: '', guard: environment('guardTable').guardTable, memory: '' }));
  return observed(async () => {
    const { guard, ...rest } = await deps();
    const { apart, measure } = observation();
    const report = await sweep({ ...rest, guard }, { until: clock.now() + SWEEP.itemsMs, runsPerSecond: SWEEP.runsPerSecond, apart });
    measure(sweepMetrics(report));
    measure([{ name: 'OldestApproval', value: await oldestPendingMs(await tables(), guard) }]);
    return report;
  });
}

/** The HTTP API. */
export function apiLambda(): LambdaHandler {
  const handler = lazily(async () => {
    const { stateMachineArn, target, guardTable, fileFunction } = environment('stateMachineArn', 'target', 'guardTable', 'fileFunction');
    const deps = withTrees(await loopDeps('api', engineOf(stateMachineArn), noModel, ''));
    const files = fileFunction === NO_WORKSPACE ? noFiles : lambdaSessionFiles(new LambdaClient({ region: region() }), fileFunction);
    const links = dynamoLinkStore(dynamo({ sessions: '', guard: guardTable, memory: '' }));
    const auth = deployedAuth(targetSchema.parse(target), deps.config.auth, process.env[ENV.apiSecret] ?? '');
    const { about, audit } = observation();
    // Waiting is free here, and ends by itself.
    const services = apiServices(deps, { links, files, operatorTenant: auth.operatorTenant, nonTtyPending: true, about, audit });
    return lambdaHandler(createApp(services, { auth: auth.strategy }));
  });
  return observed(async (event) => (await handler())(event));
}
