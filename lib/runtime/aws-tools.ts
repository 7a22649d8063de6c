import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCodeRunner } from '../adapters/sandbox/code-runner.ts';
import { forgetfulWorkspaces } from '../adapters/sandbox/forgetful-workspaces.ts';
import { createWorkspaces } from '../adapters/sandbox/workspace.ts';
import { carryOut, isFileOperation } from '../adapters/session-files/operation.ts';
import { workspaceSessionFiles } from '../adapters/session-files/workspace.ts';
import { inProcessHandler } from '../adapters/skills/in-process.ts';
import { dynamoMemoryStore } from '../adapters/stores/dynamodb/memory-store.ts';
import { HandrailError } from '../core/errors.ts';
import { callSchema } from '../core/hands/call.ts';
import type { Category, ToolHandler, ToolServices } from '../core/hands/category.ts';
import { outputKeeper } from '../core/hands/keep-output.ts';
import { type CallDeps, runCall } from '../core/hands/lifecycle.ts';
import { networkConfigSchema } from '../core/network-config.ts';
import { retentionConfigSchema } from '../core/retention.ts';
import { exportedHandler } from '../core/skills/exported-handler.ts';
import { wantsOf } from '../core/skills/permissions.ts';
import type { HandlerSkill } from '../core/skills/skill.ts';
import { ENV, NO_WORKSPACE } from '../manifest.ts';
import { dynamo, environment, type LambdaHandler, lazily, loadDeployed, secretReader, span } from './aws-environment.ts';
import { observation, observed } from './aws-observation.ts';
import { networkServices } from './network.ts';
import { skillMeans } from './skill-means.ts';
import { systemClock as clock, systemRandom as random } from './system.ts';

/** Step Functions → one call of a category's tools. The function is given what its category needs and nothing else. */
export function toolLambda<Needs extends Partial<ToolServices>>(
  category: Category,
  handlers: Readonly<Record<string, ToolHandler<Needs>>>,
  services: () => Promise<Needs>,
): LambdaHandler {
  const byName: ReadonlyMap<string, ToolHandler> = new Map(
    category.tools.flatMap(({ name }) => (handlers[name] ? [[name, handlers[name] as ToolHandler]] : [])),
  );
  const made = lazily(services);
  return observed(async (event) =>
    tracedCall(event, {
      handlers: byName,
      services: await made(),
      ...keeper(await made(), category),
      clock,
      logger: observation().logger,
      logText: observation().text,
      startTimer,
    }),
  );
}

const tracedSchema = callSchema.pick({ tool: true, runId: true, callId: true });

/** A call as a span that names tool, run and call: of the invocation X-Ray knows the function alone. */
async function tracedCall(event: unknown, deps: CallDeps): Promise<unknown> {
  const known = tracedSchema.safeParse(event);
  if (!known.success) return runCall(event, deps);
  const { tool, runId, callId } = known.data;
  return span(tool, { run: runId, call: callId }, () => runCall(event, deps));
}

/** The file function: besides the calls of agents, what the API asks it for on behalf of people. */
export function withFileOperations(calls: LambdaHandler): LambdaHandler {
  const made = lazily(async () => workspaceSessionFiles((await workspaceServices()).workspaces));
  const operations = observed(async (event) => carryOut(await made(), event));
  return (event) => (isFileOperation(event) ? operations(event) : calls(event));
}

/** Nothing is kept where a deployment has no workspaces: what a file would be read from is gone with the call. */
function keeper({ workspaces }: Partial<ToolServices>, category: Category): Pick<CallDeps, 'keepWhole'> {
  if (workspaces === undefined || process.env[ENV.workspace] === NO_WORKSPACE) return {};
  return { keepWhole: outputKeeper(workspaces, [category]) };
}

function startTimer(ms: number, callback: () => void): () => void {
  const timer = setTimeout(callback, ms);
  return () => clearTimeout(timer);
}

/** Step Functions → one call of a handler skill, in a function of its own. `module`: its code, as it was bundled. */
export function skillLambda(tool: HandlerSkill['tool'], module: unknown): LambdaHandler {
  const made = lazily(async () => {
    const handler = exportedHandler(module);
    if (!handler) throw new HandrailError('INTERNAL', `the module of ${tool.name} exports no function, as default or as "handler"`);
    const wants = wantsOf(tool.permissions);
    const workspaces = wants.read || wants.write ? (await workspaceServices()).workspaces : undefined;
    return new Map([[tool.name, inProcessHandler(tool, handler, skillMeans({ tool }, workspaces))]]);
  });
  return observed(async (event) => {
    const { logger, text: logText } = observation();
    return tracedCall(event, { handlers: await made(), services: {}, clock, logger, logText, startTimer });
  });
}

export async function workspaceServices(): Promise<Pick<ToolServices, 'workspaces'>> {
  return { workspaces: await createWorkspaces({ root: environment('workspace').workspace, random, now: clock.now }) };
}

export async function codeServices(): Promise<Pick<ToolServices, 'workspaces' | 'code'>> {
  const none = environment('workspace').workspace === NO_WORKSPACE;
  const root = join(tmpdir(), 'handrail-workspace');
  const services = none ? { workspaces: forgetfulWorkspaces({ root, random, now: clock.now }) } : await workspaceServices();
  return { ...services, code: createCodeRunner() };
}

export async function memoryServices(): Promise<Pick<ToolServices, 'memory'>> {
  const { retention } = await loadDeployed(retentionConfigSchema);
  const tables = dynamo({ sessions: '', guard: '', memory: environment('memoryTable').memoryTable });
  return { memory: dynamoMemoryStore(tables, retention.memory_namespace_days) };
}

export async function networkLambdaServices(): Promise<ReturnType<typeof networkServices>> {
  const read = secretReader();
  return networkServices(await loadDeployed(networkConfigSchema), {
    apiKey: async (name) => (name === undefined ? undefined : read(name)),
  });
}
