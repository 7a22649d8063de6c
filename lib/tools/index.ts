import type { Category } from '../core/hands/category.ts';
import { file } from './file/category.ts';
import { memory } from './memory/category.ts';

/** Every category of built-in tools. One line each: Lambda, role, limits and permits follow from it. */
export const categories: readonly Category[] = [file, memory];
