import * as z from 'zod';
import { HISTORY_LIMIT, MAX_ITERATIONS, MAX_MESSAGES, RUN_TIMEOUT_MS } from '../limits.ts';
import { conditionProblem } from './condition.ts';
import { ANY_EXECUTION, allowsNetwork, executionConstraintsSchema, mergedExecutionSchema } from './execution-constraints.ts';

export const toolPolicies = ['allow', 'confirm', 'deny'] as const;
export const toolPolicySchema = z.enum(toolPolicies);
export type ToolPolicy = z.infer<typeof toolPolicySchema>;

const limit = z.number().nonnegative().nullable().optional();

/** Null or absent = no limit in that dimension (seed 003, BudgetConstraints; `cost_usd` is ours). */
export const budgetSchema = z.strictObject({ total_tokens: limit, prompt_tokens: limit, completion_tokens: limit, cost_usd: limit });
export type Budget = z.infer<typeof budgetSchema>;

/** A policy word, or one that counts only when the arguments match `when` (a JSON Schema) and only if stricter. */
export const toolRuleSchema = z.union(
  [toolPolicySchema, z.strictObject({ policy: toolPolicySchema, when: z.record(z.string(), z.json()) })],
  'expected allow, confirm or deny, or { policy, when }',
);
export type ToolRule = z.infer<typeof toolRuleSchema>;

export const flowModes = ['off', 'confirm', 'deny'] as const;
export type FlowMode = (typeof flowModes)[number];

/** As stored: read back without compiling anything. */
const toolPolicyRulesSchema = z.record(
  z.string(),
  z.union([toolRuleSchema, z.array(toolRuleSchema)], 'expected allow, confirm or deny, or { policy, when }, or a list of these'),
);

/** A tool's name, an alias, or a glob of them; other keys could match no tool, which for a `deny` nobody would notice. */
const RULE_KEY = /^[a-z*?][a-z0-9_*?]{0,62}$/;

/** As written by people: the keys can match a tool and every `when` compiles, so that a wrong one is refused where it is written. */
const checkedToolPolicySchema = toolPolicyRulesSchema.superRefine((rules, context) => {
  for (const [key, written] of Object.entries(rules)) {
    if (!RULE_KEY.test(key))
      context.addIssue({
        code: 'custom',
        path: [key],
        message: 'not the name of a tool or a glob: a-z, 0-9 and _, with * and ? as wildcards',
      });
    const list = Array.isArray(written) ? written : [written];
    for (const [index, rule] of list.entries()) {
      const problem = typeof rule === 'string' ? undefined : conditionProblem(rule.when);
      const path = [key, ...(Array.isArray(written) ? [index] : []), 'when'];
      if (problem !== undefined) context.addIssue({ code: 'custom', path, message: `not a JSON Schema that can be used: ${problem}` });
    }
  }
});

/** Seed 003, GuardConstraints. `tool_policy` keys are tool names, aliases or globs. */
export const guardConstraintsSchema = z.strictObject({
  tool_policy: checkedToolPolicySchema.optional(),
  default_policy: toolPolicySchema.optional(),
  max_tool_calls: z.int().nonnegative().nullable().optional(),
  budget: budgetSchema.optional(),
  flow: z.enum(flowModes).optional(),
});
export type GuardConstraints = z.infer<typeof guardConstraintsSchema>;

/** The same as stored: what an earlier version accepted stays readable, and a step does not compile what it only reads. */
export const storedGuardSchema = guardConstraintsSchema.extend({ tool_policy: toolPolicyRulesSchema.optional() });

export const constraintsSchema = z.strictObject({
  guard: guardConstraintsSchema.optional(),
  execution: executionConstraintsSchema.optional(),
  max_iterations: z.int().positive().optional(),
  /** Active time of the run, ms. */
  timeout: z.int().positive().optional(),
  max_messages: z.int().positive().optional(),
  history_limit: z.int().nonnegative().optional(),
});
export type Constraints = z.infer<typeof constraintsSchema>;

/** Layers from the widest to the narrowest (design 5.4). */
export const layers = ['default', 'app', 'agent', 'run', 'skill'] as const;
export type Layer = (typeof layers)[number];

/** The layers merged: what holds, and which layer each part came from (dotted path → layer). */
export const mergedConstraintsSchema = z.object({
  max_iterations: z.int(),
  timeout: z.number(),
  max_messages: z.int(),
  history_limit: z.int(),
  guard: z.object({
    /** Every layer's rules, kept apart: the strictest answer of all layers holds. */
    tool_policy: z.array(
      z.object({ layer: z.string(), rules: z.record(z.string(), z.array(toolRuleSchema)), default_policy: toolPolicySchema.optional() }),
    ),
    max_tool_calls: z.int().nullable(),
    budget: z.object({
      total_tokens: z.number().nullable(),
      prompt_tokens: z.number().nullable(),
      completion_tokens: z.number().nullable(),
      cost_usd: z.number().nullable(),
    }),
    flow: z.enum(flowModes),
  }),
  /** Absent in runs from before there was such a constraint. */
  execution: mergedExecutionSchema.default(ANY_EXECUTION),
  origins: z.record(z.string(), z.string()),
});
export type MergedConstraints = z.infer<typeof mergedConstraintsSchema>;
/** What one layer says about tools. */
export type PolicyLayer = MergedConstraints['guard']['tool_policy'][number];

export interface ConstraintsLayer {
  readonly layer: Layer;
  readonly constraints: Constraints;
}

/**
 * The layers as one, so that a layer can only tighten (design 5.4, seed 000 "constraints"). What the app declares takes
 * the place of the product's default, in either direction; every other layer is held to it. Smallest number, strictest
 * flow and no network win; each layer's tool policy is kept whole, since the strictest answer of all layers holds.
 * `max_messages` and `history_limit` are the first declared (agent, run, skills in order, app), never above the app's.
 */
export function mergeConstraints(layers: readonly ConstraintsLayer[]): MergedConstraints {
  const origins: Record<string, string> = {};
  const number = (path: string, read: Read<number | null>, fallback: number | null, merge = smallest): number | null => {
    const { value, layer } = merge(declared(layers, read), fallback);
    origins[path] = layer;
    return value;
  };
  const budget = (key: keyof Budget): number | null => number(`guard.budget.${key}`, (own) => own.guard?.budget?.[key], null);
  const flow = strictestFlow(declared(layers, (own) => own.guard?.flow));
  origins['guard.flow'] = flow.layer;
  const network = strictestNetwork(declared(layers, (own) => own.execution && allowsNetwork(own.execution)));
  origins['execution.network'] = network.layer;
  return {
    max_iterations: number('max_iterations', (own) => own.max_iterations, MAX_ITERATIONS) ?? MAX_ITERATIONS,
    timeout: number('timeout', (own) => own.timeout, RUN_TIMEOUT_MS) ?? RUN_TIMEOUT_MS,
    max_messages: number('max_messages', (own) => own.max_messages, MAX_MESSAGES, firstDeclared) ?? MAX_MESSAGES,
    history_limit: number('history_limit', (own) => own.history_limit, HISTORY_LIMIT, firstDeclared) ?? HISTORY_LIMIT,
    guard: {
      tool_policy: layers.flatMap(({ layer, constraints }) => policyLayer(layer, constraints.guard)),
      max_tool_calls: number('guard.max_tool_calls', (own) => own.guard?.max_tool_calls, null),
      budget: {
        total_tokens: budget('total_tokens'),
        prompt_tokens: budget('prompt_tokens'),
        completion_tokens: budget('completion_tokens'),
        cost_usd: budget('cost_usd'),
      },
      flow: flow.value,
    },
    execution: {
      network: network.value,
      timeout_s: number('execution.timeout_s', (own) => own.execution?.timeout_s, ANY_EXECUTION.timeout_s),
    },
    origins,
  };
}

/** One layer's tool policy in its merged form; none when the layer says nothing about tools. */
export function policyLayer(layer: string, guard: Pick<GuardConstraints, 'tool_policy' | 'default_policy'> | undefined): PolicyLayer[] {
  if (guard?.tool_policy === undefined && guard?.default_policy === undefined) return [];
  const rules = Object.entries(guard.tool_policy ?? {}).map(([key, rule]) => [key, Array.isArray(rule) ? rule : [rule]]);
  return [
    {
      layer,
      rules: Object.fromEntries(rules),
      ...(guard.default_policy === undefined ? {} : { default_policy: guard.default_policy }),
    },
  ];
}

/** `deny` before `confirm` before `allow`; `allow` when there is none. */
export function strictestPolicy(...policies: readonly ToolPolicy[]): ToolPolicy {
  return toolPolicies[Math.max(0, ...policies.map((policy) => toolPolicies.indexOf(policy)))] ?? 'deny';
}

export function strictestFlowMode(a: FlowMode, b: FlowMode): FlowMode {
  return flowModes.indexOf(b) > flowModes.indexOf(a) ? b : a;
}

type Read<T> = (constraints: Constraints) => T | undefined;
interface Declared<T> {
  readonly layer: Layer;
  readonly value: T;
}

function declared<T>(layers: readonly ConstraintsLayer[], read: Read<T>): Declared<T>[] {
  return layers.flatMap(({ layer, constraints }) => {
    const value = read(constraints);
    return value === undefined ? [] : [{ layer, value }];
  });
}

/** What the operator's app stands for, else the product's default: the bound that other layers are held to. */
function base<T>(values: readonly Declared<T>[], fallback: T): Declared<T> {
  return (
    values.find(({ layer }) => layer === 'app') ?? values.find(({ layer }) => layer === 'default') ?? { layer: 'default', value: fallback }
  );
}

/** Null is no limit. A value that is not a number wins, since no comparison with it lets anything pass. */
function smallest(values: readonly Declared<number | null>[], fallback: number | null): Declared<number | null> {
  let least = base(values, fallback);
  for (const candidate of values) {
    if (candidate.layer === 'default' || candidate.value === null) continue;
    if (least.value === null || !(candidate.value >= least.value)) least = candidate;
  }
  return least;
}

function firstDeclared(values: readonly Declared<number | null>[], fallback: number | null): Declared<number | null> {
  const app = base(values, fallback);
  const agent = values.find(({ layer }) => layer === 'agent');
  const first = agent ?? values.find(({ layer }) => layer === 'run') ?? values.find(({ layer }) => layer === 'skill');
  if (!first) return app;
  const unbound = first === agent && app.layer === 'default';
  return unbound || smaller(first.value, app.value) ? first : app;
}

const smaller = (a: number | null, b: number | null): boolean => a !== null && (b === null || a <= b);

function strictestFlow(values: readonly Declared<FlowMode>[]): Declared<FlowMode> {
  let strictest = base(values, 'confirm');
  for (const candidate of values) {
    if (candidate.layer === 'default') continue;
    if (strictestFlowMode(strictest.value, candidate.value) !== strictest.value) strictest = candidate;
  }
  return strictest;
}

function strictestNetwork(values: readonly Declared<boolean>[]): Declared<boolean> {
  return values.find(({ value }) => !value) ?? base(values, ANY_EXECUTION.network);
}
