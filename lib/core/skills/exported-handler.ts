import type { SkillHandler } from './context.ts';

/** The handler of a skill's module: its `default` export, else `handler`. Undefined when neither is a function. */
export function exportedHandler(module: unknown): SkillHandler | undefined {
  const { default: first, handler } = Object(module) as { readonly default?: unknown; readonly handler?: unknown };
  return [first, handler].find((value): value is SkillHandler => typeof value === 'function');
}
