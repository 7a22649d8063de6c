import type { TableId } from './adapters/stores/dynamodb/tables.ts';
import type { Config } from './core/config.ts';
import type { Category } from './core/hands/category.ts';
import { sha256 } from './core/hash.ts';
import { TOOL_TIMEOUT_MS } from './core/limits.ts';
import { wantsOf } from './core/skills/permissions.ts';
import type { HandlerSkill, SkillCatalogue } from './core/skills/skill.ts';
import { FUNCTION_USE, type FunctionUse } from './function-use.ts';

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
  /** Name of the function that works with sessions' files, for people; or `NO_WORKSPACE`. */
  fileFunction: 'HANDRAIL_FILE_FUNCTION',
  /** `debug`, `info`, `warn` or `error`. */
  logLevel: 'HANDRAIL_LOG_LEVEL',
  /** `on`: previews of arguments, results and answers are logged. */
  logText: 'HANDRAIL_LOG_TEXT',
  /** Address of the HTTP API, for the links of notices where the configuration gives no other. */
  apiUrl: 'HANDRAIL_API_URL',
  /** Topic that approvals are announced to besides the configured ones; only where the stage has someone mailed. */
  approvalsTopic: 'HANDRAIL_APPROVALS_TOPIC',
  /** Where `apiAuth` is `secret`: the bearer secret that takes the place of the authorizer. */
  apiSecret: 'HANDRAIL_API_SECRET',
} as const;
export type EnvKey = keyof typeof ENV;

/**
 * How callers of a deployment's API show who they are. Emulators take any signature for good, so there a shared secret
 * stands in for `iam`; tokens they do check, or leave unread, which the function refuses.
 */
export function apiAuth(target: 'aws' | 'emulator', { mode }: Config['auth']): 'secret' | 'iam' | 'jwt' {
  return target === 'emulator' && mode === 'iam' ? 'secret' : mode;
}

/** The configuration file as the functions find it: checked, as JSON, in the directory of the handler. */
export const CONFIG_FILE = 'handrail.config.json';
/** All accepted skills, as JSON, beside the configuration. */
export const SKILLS_FILE = 'handrail.skills.json';
/** Default name of a deployment: prefix of tables, functions and the state machine. */
export const DEPLOYMENT_NAME = 'handrail';
/** The model of a deployment whose configuration names none: an inference profile that serves every commercial region. */
export const DEFAULT_BEDROCK_MODEL = 'global.anthropic.claude-sonnet-4-5-20250929-v1:0';
/** Where the workspaces are mounted in AWS. */
export const WORKSPACE_MOUNT = '/mnt/workspace';
/** In place of a directory where a deployment has no workspaces: a script finds no files, and those it leaves are gone. */
export const NO_WORKSPACE = 'none';

/** Besides what it uses of the tables and the state machine. */
export interface FunctionSpec extends FunctionUse {
  readonly name: string;
  /** Module that exports `handler`, relative to the project. */
  readonly entry: string;
  readonly description: string;
  readonly memoryMb: number;
  readonly timeoutSeconds: number;
  /** Keys of its environment, besides `apiSecret` of the api function where a secret is what callers show. */
  readonly env: readonly EnvKey[];
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
  /** Has no way out although it works with no files: a skill that asks for no network. */
  readonly offline: boolean;
  /** The handler skill that it is; its bundle holds that skill's code. */
  readonly skill?: HandlerSkill;
}

/** What every function is told. */
const EVERY = ['target', 'logLevel', 'logText', 'functionPrefix'] as const;
const none = {
  engine: [],
  model: false,
  notices: false,
  search: false,
  invokes: [],
  config: true,
  sandbox: false,
  offline: false,
} as const;

/** The functions that are not tools. */
export const coreFunctions = [
  {
    ...none,
    ...FUNCTION_USE.reason,
    name: 'reason',
    entry: 'functions/reason.ts',
    description: 'One step of a run: asks the model, applies the guard, commits, plans',
    memoryMb: 512,
    timeoutSeconds: 300,
    env: [...EVERY, 'sessionsTable', 'guardTable'],
    model: true,
  },
  {
    ...none,
    ...FUNCTION_USE.suspend,
    name: 'suspend',
    entry: 'functions/suspend.ts',
    description: 'Registers the task token of a suspension and tells people that they are asked',
    memoryMb: 256,
    timeoutSeconds: 30,
    env: [...EVERY, 'sessionsTable', 'guardTable', 'stateMachineArn', 'apiUrl'],
    notices: true,
  },
  {
    ...none,
    ...FUNCTION_USE.settle,
    name: 'settle',
    entry: 'functions/settle.ts',
    description: 'Ends the run of an execution that failed, timed out or was stopped',
    memoryMb: 256,
    timeoutSeconds: 60,
    env: [...EVERY, 'sessionsTable', 'guardTable', 'stateMachineArn'],
  },
  {
    ...none,
    ...FUNCTION_USE.sweep,
    name: 'sweep',
    entry: 'functions/sweep.ts',
    description: 'Every minute: expiries, undelivered decisions, runs that never started or have stopped',
    memoryMb: 256,
    timeoutSeconds: 55,
    env: [...EVERY, 'sessionsTable', 'guardTable', 'stateMachineArn', 'apiUrl'],
    notices: true,
  },
  {
    ...none,
    ...FUNCTION_USE.api,
    name: 'api',
    entry: 'functions/api.ts',
    description: 'The HTTP API',
    memoryMb: 512,
    timeoutSeconds: 29,
    env: [...EVERY, 'sessionsTable', 'guardTable', 'stateMachineArn', 'fileFunction'],
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
    stores: needs('memoryTable') ? { memory: ['read', 'search', 'write', 'remove'] } : {},
    // What the network lets through is configured, and how long memories are kept.
    config: needs('network') || needs('memoryTable'),
    search: needs('network'),
    sandbox: needs('codeRunner'),
  };
}

/** A skill's code and what it reads fit in this; a skill that works on more belongs into a category. */
const SKILL_MEMORY_MB = 256;

/** The function of a handler skill: no rights but to its log, files and a way out only where its permissions ask for them. */
export function skillFunction(skill: HandlerSkill): FunctionSpec {
  const wants = wantsOf(skill.tool.permissions);
  const files = wants.read || wants.write;
  return {
    ...none,
    name: skillFunctionName(skill.tool.name),
    entry: 'functions/skill.ts',
    description: `The skill ${skill.name}`,
    memoryMb: SKILL_MEMORY_MB,
    timeoutSeconds: Math.ceil((skill.tool.timeoutMs ?? TOOL_TIMEOUT_MS.default) / 1000) + TOOL_MARGIN_SECONDS,
    env: [...EVERY, ...(files ? (['workspace'] as const) : [])],
    stores: {},
    config: false,
    offline: !wants.network,
    skill,
  };
}

/** The functions of all handler skills. */
export function skillFunctions({ skills }: Pick<SkillCatalogue, 'skills'>): FunctionSpec[] {
  return skills.flatMap((skill) => (skill.kind === 'handler' ? [skillFunction(skill)] : []));
}

/** MB of a function of the product by its name, or by the category of its tools; of a skill's where there is neither. */
export function functionMemoryMb(categories: readonly Pick<Category, 'name' | 'memoryMb'>[], name: string): number {
  return [...coreFunctions, ...categories].find((known) => known.name === name)?.memoryMb ?? SKILL_MEMORY_MB;
}

/** Lambda has 64 characters for a name, of which a deployment's takes up to 25. */
const SKILL_NAME_CHARACTERS = 32;

/** A long name is cut, and kept apart from others that begin alike by a digest. */
function skillFunctionName(tool: string): string {
  const name = tool.replaceAll('_', '-');
  return `skill-${name.length <= SKILL_NAME_CHARACTERS ? name : `${name.slice(0, SKILL_NAME_CHARACTERS - 9)}-${sha256(tool).slice(0, 8)}`}`;
}

/**
 * Runs in the network without a way out: whatever works with the session's files or carries out code. So nothing that can
 * read files can send them (design section 9).
 */
export function isIsolated(spec: Pick<FunctionSpec, 'env' | 'sandbox' | 'offline'>): boolean {
  return spec.env.includes('workspace') || spec.sandbox || spec.offline;
}

/** The timeouts that the state machine must outlive, seconds. */
export function functionTimeouts(
  categories: readonly Category[],
  skills: Pick<SkillCatalogue, 'skills'> = { skills: [] },
): { readonly reason: number; readonly tool: number } {
  const [reason] = coreFunctions;
  const tools = [...categories.map(toolFunction), ...skillFunctions(skills)];
  return { reason: reason.timeoutSeconds, tool: Math.max(...tools.map(({ timeoutSeconds }) => timeoutSeconds)) };
}

/** Name of a function in a deployment, such as `handrail-reason`. */
export function functionName(prefix: string, name: string): string {
  return `${prefix}-${name}`;
}

/** Name of the function that runs a tool, that of its category or of its skill: `functionName` of a call. */
export function toolFunctionName(prefix: string, category: string, tool: string): string {
  return functionName(prefix, category === 'skill' ? skillFunctionName(tool) : `tool-${category}`);
}

/** Name of a table in a deployment. */
export function tableName(prefix: string, table: TableId): string {
  return `${prefix}-${table}`;
}

/** Name of the state machine in a deployment; fixed, so that its ARN is known before it exists. */
export function stateMachineName(prefix: string): string {
  return `${prefix}-loop`;
}
