import type { CheckerModule } from '../core/guard/custom-checkers.ts';

/** The operator's checkers in a bundled function: `cdk/bundle.ts` puts a list made from the configuration in this file's place. */
export const checkerModules: readonly CheckerModule[] = [];
