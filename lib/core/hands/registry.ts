import { HandrailError } from '../errors.ts';
import { TOOL_TIMEOUT_MS } from '../limits.ts';
import type { Category } from './category.ts';
import type { Permissions, ToolDefinition, ToolForModel } from './define-tool.ts';
import { nearestName } from './nearest-name.ts';
import { checkPermissions } from './permissions.ts';

/** Categories that have no Lambda of their own kind: one Lambda per handler skill, and what `reason` does itself (design section 1). */
const WITHOUT_LAMBDA: readonly string[] = ['skill', 'built-in'];

/** A tool that was left out because it declares more than `security` allows. */
export interface RefusedTool {
  readonly name: string;
  readonly denied: readonly string[];
}

export interface Registry {
  /** Throws CONFLICT when a name or alias is taken, PERMISSION_DENIED when it declares more than `security` allows. */
  register(definition: ToolDefinition): void;
  /** False when there is no such tool. */
  unregister(name: string): boolean;
  /** By exact name. */
  get(name: string): ToolDefinition | undefined;
  /** By exact name, else by exact alias. Nothing is guessed. */
  resolve(name: string): ToolDefinition | undefined;
  /** In order of registration; the same array until the set changes. */
  getAll(): readonly ToolDefinition[];
  getByCategory(category: string): readonly ToolDefinition[];
  /** What the LLM is shown; the same array until the set changes (seed 004 section 1.4). */
  toolsForModel(): readonly ToolForModel[];
  /** Undefined for skills and for what `reason` does itself. */
  categoryOf(definition: Pick<ToolDefinition, 'category'>): Category | undefined;
  /** ms one attempt may take: the tool's, else its category's, else 10 s, clamped to 1–120 s (seed 004 section 2.2). */
  timeoutOf(definition: ToolDefinition): number;
  /** PERMISSION_DENIED with each denial, or undefined. `policy` is the one of the moment; by default the app's `security`. */
  deniedPermissions(definition: ToolDefinition, policy?: Permissions): HandrailError | undefined;
  /** TOOL_NOT_FOUND with the tools there are (`visible`, else all) and the nearest name (seed 004 section 3.2). */
  notFound(name: string, visible?: readonly ToolDefinition[]): HandrailError;
  /** Tools of the categories that `security` ruled out. */
  refused(): readonly RefusedTool[];
}

/**
 * All tools of a deployment by name (seed 004 section 1, design 6.1). The categories' own tools are registered at once;
 * those wider than `security` are left out and listed by `refused`. Names and aliases share one space: a collision throws.
 */
export function createRegistry(categories: readonly Category[], options: { readonly security?: Permissions } = {}): Registry {
  const { security } = options;
  const byCategory = new Map(categories.map((category) => [category.name, category]));
  const tools = new Map<string, ToolDefinition>();
  const aliases = new Map<string, string>();
  const refused: RefusedTool[] = [];
  let all: readonly ToolDefinition[] | undefined;
  let forModel: readonly ToolForModel[] | undefined;

  const deniedBy = (definition: ToolDefinition, policy = security): string[] =>
    policy ? checkPermissions(definition.permissions, policy) : [];
  const changed = (): void => {
    all = undefined;
    forModel = undefined;
  };
  const add = (definition: ToolDefinition): void => {
    checkPlace(definition, byCategory, (name) => tools.has(name) || aliases.has(name));
    tools.set(definition.name, Object.freeze(definition));
    for (const alias of definition.aliases) aliases.set(alias, definition.name);
    changed();
  };

  const registry: Registry = {
    register(definition) {
      const denied = deniedBy(definition);
      if (denied.length > 0) throw permissionError(definition.name, denied);
      add(definition);
    },
    unregister(name) {
      const definition = tools.get(name);
      if (!definition) return false;
      tools.delete(name);
      for (const alias of definition.aliases) aliases.delete(alias);
      changed();
      return true;
    },
    get: (name) => tools.get(name),
    resolve: (name) => tools.get(name) ?? tools.get(aliases.get(name) ?? name),
    getAll: () => (all ??= Object.freeze([...tools.values()])),
    getByCategory: (category) => registry.getAll().filter((definition) => definition.category === category),
    toolsForModel: () => (forModel ??= Object.freeze(registry.getAll().map(shownToModel))),
    categoryOf: ({ category }) => byCategory.get(category),
    timeoutOf: (definition) => clampedTimeout(definition, byCategory.get(definition.category)),
    deniedPermissions(definition, policy) {
      const denied = deniedBy(definition, policy);
      return denied.length > 0 ? permissionError(definition.name, denied) : undefined;
    },
    notFound(name, visible) {
      const ruledOut = refused.find((tool) => tool.name === name);
      return ruledOut ? permissionError(ruledOut.name, ruledOut.denied) : notFoundError(name, visible ?? registry.getAll());
    },
    refused: () => refused,
  };
  for (const definition of categories.flatMap((category) => category.tools)) {
    const denied = deniedBy(definition);
    if (denied.length > 0) refused.push({ name: definition.name, denied });
    else add(definition);
  }
  return registry;
}

function shownToModel({ name, description, parameters }: ToolDefinition): ToolForModel {
  return Object.freeze({ name, description, parameters });
}

function clampedTimeout(definition: ToolDefinition, category: Category | undefined): number {
  const wanted = definition.timeoutMs ?? category?.timeoutMs ?? TOOL_TIMEOUT_MS.default;
  return Math.min(Math.max(wanted, TOOL_TIMEOUT_MS.min), TOOL_TIMEOUT_MS.max);
}

function checkPlace(definition: ToolDefinition, categories: ReadonlyMap<string, Category>, taken: (name: string) => boolean): void {
  const { name, category } = definition;
  if (!categories.has(category) && !WITHOUT_LAMBDA.includes(category))
    throw new HandrailError('BAD_REQUEST', `tool "${name}" names a category that does not exist: "${category}"`, { field: 'category' });
  const names = [name, ...definition.aliases];
  const collision = names.find((wanted, index) => taken(wanted) || names.indexOf(wanted) !== index);
  if (collision !== undefined)
    throw new HandrailError('CONFLICT', `tool "${name}": the name or alias "${collision}" is taken`, {
      field: collision === name ? 'name' : 'aliases',
    });
}

function permissionError(name: string, denied: readonly string[]): HandrailError {
  return new HandrailError('PERMISSION_DENIED', `tool "${name}" is not allowed ${denied.join(', ')}`, {
    suggestions: ['Use a tool that needs less.', 'Tell the user that the security settings of this deployment rule it out.'],
  });
}

function notFoundError(name: string, visible: readonly ToolDefinition[]): HandrailError {
  const shown = JSON.stringify(String(name).slice(0, 64).toWellFormed());
  const nearest = nearestName(
    String(name),
    visible.flatMap((tool) => [tool.name, ...tool.aliases]),
  );
  const names = visible.map((tool) => tool.name).join(', ') || 'none';
  return new HandrailError('TOOL_NOT_FOUND', `there is no tool ${shown}; there are: ${names}`, {
    suggestions: nearest === undefined ? [] : [`Did you mean "${nearest}"?`],
  });
}
