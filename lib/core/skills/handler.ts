import { defineTool, type Permissions, type ToolDefinition } from '../hands/define-tool.ts';
import { toolNameSchema } from '../ids.ts';
import type { Json, JsonObject } from '../json.ts';
import { TOOL_TIMEOUT_MS } from '../limits.ts';
import { kindOf } from './name.ts';
import type { Notes } from './notes.ts';
import { readParameters } from './parameters.ts';
import { type PermissionRules, readPermissions, wantsOf } from './permissions.ts';
import { filePath } from './place.ts';
import type { SkillFile } from './skill.ts';

export interface HandlerSettings {
  /** The app's `security`. */
  readonly security: Permissions;
  /** `skills.trusted` of the configuration. */
  readonly trusted: ReadonlySet<string>;
}

interface Naming {
  readonly name: string;
  readonly toolName: string;
  readonly description: string;
  readonly body: string;
}

const DECLARES = ['parameters', 'permissions', 'handler', 'timeout', 'max_concurrency', 'idempotent', 'parallel_safe'];
/** Where the code lies when nothing is said, first found. */
const DEFAULT_FILES = ['handler.ts', 'handler.js', 'handler.mjs'];
const CODE = /\.(?:ts|mts|js|mjs)$/;
/** Below this a timeout was most likely meant in seconds. */
const ODD_TIMEOUT_MS = 1_000;

/** A skill that declares any of a tool's parts is one. */
export const isHandlerSkill = (data: JsonObject): boolean => DECLARES.some((key) => Object.hasOwn(data, key));

/** The tool that a handler skill is (seed 004 section 1.3, design section 7). Undefined after problems were noted. */
export function readHandler(
  data: JsonObject,
  files: readonly SkillFile[],
  naming: Naming,
  settings: HandlerSettings,
  notes: Notes,
): { readonly kind: 'handler'; readonly tool: ToolDefinition; readonly handler: string } | undefined {
  const before = notes.problems.length;
  const { toolName, name, description } = naming;
  if (name !== '' && !toolNameSchema.safeParse(toolName).success)
    notes.problem(['name'], `as a tool it would be called "${toolName}"; that takes a-z first, then up to 62 of a-z, 0-9 and -`);
  const handler = readFile(data['handler'], files, notes);
  const parameters = readParameters(data['parameters'] ?? {}, toolName || 'skill', notes);
  const rules: PermissionRules = { security: settings.security, trusted: settings.trusted.has(name) };
  const permissions = readPermissions(data['permissions'], rules, notes);
  const timeoutMs = readTimeout(data['timeout'], notes);
  const maxConcurrency = readCount(data['max_concurrency'], 'max_concurrency', notes);
  const flags = { idempotent: readFlag(data, 'idempotent', notes), parallelSafe: readFlag(data, 'parallel_safe', notes) };
  if (notes.problems.length > before || description === '' || !handler || !parameters || !permissions) return undefined;
  const tool = defineTool({
    name: toolName,
    description,
    parameters,
    category: 'skill',
    permissions,
    timeoutMs,
    ...(maxConcurrency === undefined ? {} : { maxConcurrency }),
    ...flags,
    effectTags: effectTagsOf(permissions),
    // What it brings back, its author has as little in hand as we do.
    untrusted: true,
  });
  return { kind: 'handler', tool, handler };
}

/** What the guard counts, and what flow looks at: from what the skill may do, not from what it says. */
function effectTagsOf(permissions: Permissions): string[] {
  const wants = wantsOf(permissions);
  return [...(wants.read ? ['fs.read'] : []), ...(wants.write ? ['fs.write'] : []), ...(wants.network ? ['net.read'] : [])];
}

function readFile(value: Json | undefined, files: readonly SkillFile[], notes: Notes): string | undefined {
  if (value === undefined) {
    const found = DEFAULT_FILES.find((name) => files.some(({ path }) => path === name));
    if (found === undefined) notes.problem([], 'declares a tool and has no handler.ts or handler.js beside it');
    return found;
  }
  const path = filePath(value, 'handler', files, notes);
  if (path === undefined || CODE.test(path)) return path;
  notes.problem(['handler'], `"${path}" is no TypeScript or JavaScript module`);
  return undefined;
}

/** ms (design section 7). */
function readTimeout(value: Json | undefined, notes: Notes): number {
  const path = ['timeout'];
  if (value === null) notes.warn(path, `is empty; ${TOOL_TIMEOUT_MS.default} ms hold`);
  if (value === undefined || value === null) return TOOL_TIMEOUT_MS.default;
  if (typeof value !== 'number' || !Number.isInteger(value) || value <= 0) {
    const what = typeof value === 'number' ? String(value) : kindOf(value);
    notes.problem(path, `must be a whole number of milliseconds above 0, not ${what}`);
    return TOOL_TIMEOUT_MS.default;
  }
  if (value < ODD_TIMEOUT_MS)
    notes.warn(path, `${value} milliseconds? It is raised to ${TOOL_TIMEOUT_MS.min}; ${value} seconds are ${value * 1000}`);
  if (value > TOOL_TIMEOUT_MS.max) notes.warn(path, `is more than a tool may take; ${TOOL_TIMEOUT_MS.max} ms hold`);
  return Math.min(Math.max(value, TOOL_TIMEOUT_MS.min), TOOL_TIMEOUT_MS.max);
}

function readCount(value: Json | undefined, key: string, notes: Notes): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'number' && Number.isInteger(value) && value > 0) return value;
  notes.problem([key], 'must be a whole number above 0');
  return undefined;
}

function readFlag(data: JsonObject, key: string, notes: Notes): boolean {
  const value = data[key];
  if (value !== undefined && typeof value !== 'boolean') notes.problem([key], 'must be true or false');
  return value === true;
}
