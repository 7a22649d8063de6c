import type { BuiltIn } from '../built-in.ts';

/** Every tool that `reason` carries out itself. A line each. */
export const builtIns: readonly BuiltIn[] = [];
