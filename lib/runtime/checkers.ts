import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { HandrailError } from '../core/errors.ts';
import type { CheckerModule } from '../core/guard/custom-checkers.ts';

/**
 * Loads the modules that `constraints.guard.checkers` names, relative to the directory of the configuration. They are the
 * operator's own code and run with all that this process may do. Errors: BAD_REQUEST with the field and the cause.
 */
export async function loadCheckerModules(paths: readonly string[], configDirectory: string): Promise<CheckerModule[]> {
  const modules: CheckerModule[] = [];
  for (const [index, path] of paths.entries()) {
    try {
      modules.push({ path, module: await import(pathToFileURL(resolve(configDirectory, path)).href) });
    } catch (cause) {
      const field = `constraints.guard.checkers.${index}`;
      throw new HandrailError('BAD_REQUEST', `${field}: cannot load ${path}: ${cause instanceof Error ? cause.message : String(cause)}`, {
        field,
        cause,
      });
    }
  }
  return modules;
}
