import type { Category } from '../hands/category.ts';
import type { Permissions, ToolDefinition } from '../hands/define-tool.ts';
import { createRegistry, type Registry } from '../hands/registry.ts';
import type { ToolResult } from '../hands/result.ts';
import type { JsonObject } from '../json.ts';
import { noSkills, type SkillCatalogue } from '../skills/skill.ts';
import type { Frame, OpenCall } from './frames.ts';
import type { Step } from './step.ts';

/** Category of the tools that `reason` carries out itself: no Lambda, no permit (design section 1). */
export const BUILT_IN = 'built-in';

/** `definition.category` is `built-in`. The guard judges these calls like any other, before anything here happens. */
export type BuiltIn = { readonly definition: ToolDefinition } & (
  | {
      /** Answered in the commit that carries its call. */
      readonly kind: 'answer';
      answer(step: Step, call: OpenCall, args: JsonObject): Promise<ToolResult>;
    }
  | {
      /** Asks a person: the run suspends, the answer is the observation. */
      readonly kind: 'question';
    }
  | {
      /** Pushes a frame, whose result is the observation (design 3.6). A result instead of a frame: it cannot begin. */
      readonly kind: 'frame';
      push(step: Step, call: OpenCall, args: JsonObject): Promise<Frame | ToolResult>;
    }
);

/** By tool name. */
export type BuiltIns = ReadonlyMap<string, BuiltIn>;

/**
 * All tools of a deployment: those of the categories, what `reason` does itself, and handler skills. Registered alike, so that the
 * LLM is shown all and the guard knows all. Throws CONFLICT when two share a name.
 */
export function createTools(
  categories: readonly Category[],
  builtIns: readonly BuiltIn[],
  security?: Permissions,
  skills: SkillCatalogue = noSkills,
): { readonly registry: Registry; readonly builtIns: BuiltIns } {
  const registry = createRegistry(categories, security === undefined ? {} : { security });
  for (const { definition } of builtIns) registry.register(definition);
  for (const skill of skills.skills) if (skill.kind === 'handler') registry.register(skill.tool);
  return { registry, builtIns: new Map(builtIns.map((builtIn) => [builtIn.definition.name, builtIn])) };
}
