import * as z from 'zod';

export const toolPolicies = ['allow', 'confirm', 'deny'] as const;
export const toolPolicySchema = z.enum(toolPolicies);
export type ToolPolicy = z.infer<typeof toolPolicySchema>;

const limit = z.number().nonnegative().nullable().optional();

/** Null or absent = no limit in that dimension (seed 003, BudgetConstraints; `cost_usd` is ours). */
export const budgetSchema = z.strictObject({ total_tokens: limit, prompt_tokens: limit, completion_tokens: limit, cost_usd: limit });
export type Budget = z.infer<typeof budgetSchema>;

/** A policy word, or one that counts only when the arguments match `when` (a JSON Schema) and only if stricter. */
export const toolRuleSchema = z.union([
  toolPolicySchema,
  z.strictObject({ policy: toolPolicySchema, when: z.record(z.string(), z.json()) }),
]);
export type ToolRule = z.infer<typeof toolRuleSchema>;

export const flowModes = ['off', 'confirm', 'deny'] as const;

/** Seed 003, GuardConstraints. `tool_policy` keys are tool names, aliases or globs. */
export const guardConstraintsSchema = z.strictObject({
  tool_policy: z.record(z.string(), z.union([toolRuleSchema, z.array(toolRuleSchema)])).optional(),
  default_policy: toolPolicySchema.optional(),
  max_tool_calls: z.int().nonnegative().nullable().optional(),
  budget: budgetSchema.optional(),
  flow: z.enum(flowModes).optional(),
});
export type GuardConstraints = z.infer<typeof guardConstraintsSchema>;

export const constraintsSchema = z.strictObject({
  guard: guardConstraintsSchema.optional(),
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
  origins: z.record(z.string(), z.string()),
});
export type MergedConstraints = z.infer<typeof mergedConstraintsSchema>;
