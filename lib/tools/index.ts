import type { Category, ToolHandler } from '../core/hands/category.ts';
import type { NetworkConfig } from '../core/network-config.ts';
import { code, codeHandlers } from './code/category.ts';
import { file, fileHandlers } from './file/category.ts';
import { memory, memoryHandlers } from './memory/category.ts';
import { network, networkHandlers, networkOf } from './network/category.ts';

/** Every category of built-in tools: Lambda, role, limits and permits follow from it. */
export const categories: readonly Category[] = [file, network, code, memory];

/** The categories with the tools that a configuration leaves in them. */
export function configuredCategories(config: NetworkConfig): readonly Category[] {
  return categories.map((category) => (category === network ? networkOf(config) : category));
}

/** Every handler by tool name, for a process that runs all categories. A function of one category imports that alone. */
export const allHandlers: ReadonlyMap<string, ToolHandler> = /* @__PURE__ */ new Map(
  /* @__PURE__ */ Object.entries(/* @__PURE__ */ Object.assign({}, fileHandlers, networkHandlers, codeHandlers, memoryHandlers)),
);
