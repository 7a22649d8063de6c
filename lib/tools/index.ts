import type { Category, ToolHandler } from '../core/hands/category.ts';
import { code, codeHandlers } from './code/category.ts';
import { file, fileHandlers } from './file/category.ts';
import { memory, memoryHandlers } from './memory/category.ts';

/** Every category of built-in tools: Lambda, role, limits and permits follow from it. */
export const categories: readonly Category[] = [file, code, memory];

/** Every handler by tool name, for a process that runs all categories. A function of one category imports that alone. */
export const allHandlers: ReadonlyMap<string, ToolHandler> = /* @__PURE__ */ new Map(
  /* @__PURE__ */ Object.entries(/* @__PURE__ */ Object.assign({}, fileHandlers, codeHandlers, memoryHandlers)),
);
