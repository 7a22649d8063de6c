import { HandrailError } from '../core/errors.ts';
import type { LoopDeps } from '../core/loop/deps.ts';
import { type CoreFunctionName, FUNCTION_USE, type FunctionUse } from '../function-use.ts';

type Ports = Pick<LoopDeps, 'runs' | 'guard' | 'engine'>;

/**
 * What one function may reach: of the stores and the engine the methods that `FUNCTION_USE` lists, which in AWS are all
 * that its role allows. So a laptop and the tests find a right that is missing.
 */
export function functionDeps<Deps extends Ports>(name: CoreFunctionName, deps: Deps): Deps {
  const { stores, engine }: FunctionUse = FUNCTION_USE[name];
  return {
    ...deps,
    runs: only(name, deps.runs, stores.runs ?? []),
    guard: only(name, deps.guard, stores.guard ?? []),
    engine: only(name, deps.engine, engine, ENGINE_METHODS),
  };
}

const ENGINE_METHODS = ['start', 'status', 'sendTaskSuccess'] as const satisfies readonly (keyof LoopDeps['engine'])[];

/** `port` without those of `restricted` (default: all its methods) that are not `allowed`. */
function only<Port extends object>(
  who: string,
  port: Port,
  allowed: readonly (keyof Port)[],
  restricted: readonly PropertyKey[] = Reflect.ownKeys(port),
): Port {
  const refused = new Set(restricted.filter((method) => !(allowed as readonly PropertyKey[]).includes(method)));
  return new Proxy(port, {
    get(target, method) {
      if (refused.has(method))
        return () => Promise.reject(new HandrailError('INTERNAL', `the function ${who} may not call ${String(method)}`));
      const value: unknown = Reflect.get(target, method);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
