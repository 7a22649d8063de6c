import type { Category } from './core/hands/category.ts';
import { TOOL_TIMEOUT_MS } from './core/limits.ts';

/**
 * What deployment may know of the product, as data: every function with its entry, size, environment and rights. The
 * CDK app makes functions and roles from it, the composition root reads the environment it names, and an infra test
 * compares the two. Design section 9.
 */

/** Environment of the deployed functions. Everything else they need to know is in `handrail.config.json` beside the code. */
export const ENV = {
  /** `aws` or `emulator`. */
  target: 'HANDRAIL_TARGET',
  sessionsTable: 'HANDRAIL_SESSIONS_TABLE',
  guardTable: 'HANDRAIL_GUARD_TABLE',
  memoryTable: 'HANDRAIL_MEMORY_TABLE',
  stateMachineArn: 'HANDRAIL_STATE_MACHINE_ARN',
  /** The deployment's name; function names are made of it by `functionName` and `toolFunctionName`. */
  functionPrefix: 'HANDRAIL_FUNCTION_PREFIX',
  /** Directory that holds the workspaces, one per tenant and session: a mount in AWS, a host directory on an emulator; or `NO_WORKSPACE`. */
  workspace: 'HANDRAIL_WORKSPACE',
  /** `debug`, `info`, `warn` or `error`. */
  logLevel: 'HANDRAIL_LOG_LEVEL',
  /** `on`: previews of arguments, results and answers are logged. */
  logText: 'HANDRAIL_LOG_TEXT',
  /** Address of the HTTP API, for the links of notices where the configuration gives no other. */
  apiUrl: 'HANDRAIL_API_URL',
  /** Topic that approvals are announced to besides the configured ones; only where the stage has someone mailed. */
  approvalsTopic: 'HANDRAIL_APPROVALS_TOPIC',
  /** Emulator only: the bearer secret that takes the place of the authorizer. */
  apiSecret: 'HANDRAIL_API_SECRET',
} as const;
export type EnvKey = keyof typeof ENV;

/** The configuration file as the functions find it: checked, as JSON, in the directory of the handler. */
export const CONFIG_FILE = 'handrail.config.json';
/** Default name of a deployment: prefix of tables, functions and the state machine. */
export const DEPLOYMENT_NAME = 'handrail';
/** Where the workspaces are mounted in AWS. */
export const WORKSPACE_MOUNT = '/mnt/workspace';
/** In place of a directory where a deployment has no workspaces: a script finds no files, and those it leaves are gone. */
export const NO_WORKSPACE = 'none';

export type TableName = 'sessions' | 'guard' | 'memory';
type IndexName = 'byTenant' | 'pending' | 'due';
type TableAction = 'GetItem' | 'BatchGetItem' | 'Query' | 'PutItem' | 'UpdateItem' | 'DeleteItem' | 'BatchWriteItem';

export interface TableAccess {
  readonly actions: readonly TableAction[];
  /** Secondary indexes it may Query. */
  readonly indexes?: readonly IndexName[];
}

export interface FunctionSpec {
  readonly name: string;
  /** Module that exports `handler`, relative to the project. */
  readonly entry: string;
  readonly description: string;
  readonly memoryMb: number;
  readonly timeoutSeconds: number;
  /** Keys of its environment, besides `apiSecret` of the api function on an emulator. */
  readonly env: readonly EnvKey[];
  readonly tables: Readonly<Partial<Record<TableName, TableAccess>>>;
  /** What it may do to the state machine and its executions. */
  readonly engine: readonly ('StartExecution' | 'DescribeExecution' | 'SendTaskSuccess')[];
  /** Calls the configured models, and reads the configured secrets. */
  readonly model: boolean;
  /** Sends notices by the configured channels, and reads the secrets of the webhook. */
  readonly notices: boolean;
  /** Asks the configured search service, and reads the secret of its key. */
  readonly search: boolean;
  /** Categories whose function it may invoke directly. */
  readonly invokes: readonly string[];
  /** Ships `handrail.config.json`; `model` functions ship the scripts of scripted models too. */
  readonly config: boolean;
  /** Ships what runs untrusted code: the sandbox's child and the WebAssembly interpreters. */
  readonly sandbox: boolean;
}

const READ = ['GetItem', 'BatchGetItem', 'Query'] as const;
const WRITE = ['PutItem', 'UpdateItem', 'BatchWriteItem'] as const;
/** What every function is told. */
const EVERY = ['target', 'logLevel', 'logText', 'functionPrefix'] as const;
const none = { engine: [], model: false, notices: false, search: false, invokes: [], config: true, sandbox: false } as const;

/** The functions that are not tools. */
export const coreFunctions = [
  {
    ...none,
    name: 'reason',
    entry: 'functions/reason.ts',
    description: 'One step of a run: asks the model, applies the guard, commits, plans',
    memoryMb: 512,
    timeoutSeconds: 300,
    env: [...EVERY, 'sessionsTable', 'guardTable'],
    tables: { sessions: { actions: [...READ, ...WRITE] }, guard: { actions: [...READ, 'PutItem', 'UpdateItem'] } },
    model: true,
  },
  {
    ...none,
    name: 'suspend',
    entry: 'functions/suspend.ts',
    description: 'Registers the task token of a suspension and tells people that they are asked',
    memoryMb: 256,
    timeoutSeconds: 30,
    env: [...EVERY, 'sessionsTable', 'guardTable', 'stateMachineArn', 'apiUrl'],
    notices: true,
    tables: { sessions: { actions: [...READ, ...WRITE] }, guard: { actions: [...READ, 'PutItem', 'UpdateItem'] } },
    engine: ['DescribeExecution', 'SendTaskSuccess'],
  },
  {
    ...none,
    name: 'settle',
    entry: 'functions/settle.ts',
    description: 'Ends the run of an execution that failed, timed out or was stopped',
    memoryMb: 256,
    timeoutSeconds: 60,
    env: [...EVERY, 'sessionsTable', 'guardTable', 'stateMachineArn'],
    tables: { sessions: { actions: [...READ, ...WRITE] }, guard: { actions: [...READ, 'PutItem', 'UpdateItem'] } },
    engine: ['DescribeExecution', 'SendTaskSuccess'],
  },
  {
    ...none,
    name: 'sweep',
    entry: 'functions/sweep.ts',
    description: 'Every minute: expiries, undelivered decisions, runs that never started or have stopped',
    memoryMb: 256,
    timeoutSeconds: 55,
    env: [...EVERY, 'sessionsTable', 'guardTable', 'stateMachineArn', 'apiUrl'],
    notices: true,
    tables: {
      sessions: { actions: [...READ, ...WRITE, 'DeleteItem'], indexes: ['due'] },
      guard: { actions: [...READ, 'PutItem', 'UpdateItem'], indexes: ['due'] },
    },
    engine: ['StartExecution', 'DescribeExecution', 'SendTaskSuccess'],
  },
  {
    ...none,
    name: 'api',
    entry: 'functions/api.ts',
    description: 'The HTTP API',
    memoryMb: 512,
    timeoutSeconds: 29,
    env: [...EVERY, 'sessionsTable', 'guardTable', 'memoryTable', 'stateMachineArn'],
    tables: {
      sessions: { actions: [...READ, ...WRITE, 'DeleteItem'], indexes: ['byTenant'] },
      guard: { actions: [...READ, 'PutItem', 'UpdateItem'], indexes: ['byTenant', 'pending'] },
      memory: { actions: ['GetItem', 'Query'] },
    },
    engine: ['StartExecution', 'DescribeExecution', 'SendTaskSuccess'],
    invokes: ['file'],
  },
] as const satisfies readonly FunctionSpec[];

/** Seconds a function has beyond the longest of its tools: starting the sandbox, shaping the result. */
const TOOL_MARGIN_SECONDS = 10;

/** The function of a category: what it is given, and so what it may do, follows from what the category `needs`. */
export function toolFunction(category: Category): FunctionSpec {
  const needs = (need: Category['needs'][number]) => category.needs.includes(need);
  const longestMs = Math.max(category.timeoutMs, ...category.tools.map((tool) => tool.timeoutMs ?? category.timeoutMs));
  return {
    ...none,
    name: `tool-${category.name}`,
    entry: `functions/tools/${category.name}.ts`,
    description: `Tools of the category ${category.name}`,
    memoryMb: category.memoryMb,
    timeoutSeconds: Math.ceil(Math.min(longestMs, TOOL_TIMEOUT_MS.max) / 1000) + TOOL_MARGIN_SECONDS,
    env: [...EVERY, ...(needs('workspace') ? (['workspace'] as const) : []), ...(needs('memoryTable') ? (['memoryTable'] as const) : [])],
    tables: needs('memoryTable') ? { memory: { actions: ['GetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'] } } : {},
    // What the network lets through is configured.
    config: needs('network'),
    search: needs('network'),
    sandbox: needs('codeRunner'),
  };
}

/**
 * Runs in the network without a way out: whatever works with the session's files or carries out code. So nothing that can
 * read files can send them (design section 9).
 */
export function isIsolated(spec: Pick<FunctionSpec, 'env' | 'sandbox'>): boolean {
  return spec.env.includes('workspace') || spec.sandbox;
}

/** The timeouts that the state machine must outlive, seconds. */
export function functionTimeouts(categories: readonly Category[]): { readonly reason: number; readonly tool: number } {
  const [reason] = coreFunctions;
  return { reason: reason.timeoutSeconds, tool: Math.max(...categories.map((category) => toolFunction(category).timeoutSeconds)) };
}

/** Name of a function in a deployment, such as `handrail-reason`. */
export function functionName(prefix: string, name: string): string {
  return `${prefix}-${name}`;
}

/** Name of the function that runs a category's tools: `functionName` of a call. */
export function toolFunctionName(prefix: string, category: string): string {
  return functionName(prefix, `tool-${category}`);
}

/** Name of a table in a deployment. */
export function tableName(prefix: string, table: TableName): string {
  return `${prefix}-${table}`;
}

/** Name of the state machine in a deployment; fixed, so that its ARN is known before it exists. */
export function stateMachineName(prefix: string): string {
  return `${prefix}-loop`;
}
