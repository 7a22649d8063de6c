import { HandrailError } from '../errors.ts';
import { checkersInOrder } from './checkers/index.ts';
import { mergeConstraints } from './constraints.ts';
import type { Checker } from './decision.ts';
import { createEnforcer } from './enforcer.ts';

/** A module that `constraints.guard.checkers` names; it should export `createChecker`. */
export interface CheckerModule {
  /** As written in the configuration. */
  readonly path: string;
  readonly module: unknown;
}

/** Fresh checkers for one pass of the guard: runs must not share them (design 5.1). */
export type CustomCheckers = () => readonly Checker[];

const NAME = /^[a-z][a-z0-9_]{0,62}$/;

/**
 * The app's own checkers, in the order of the configuration. Each is made once at once, so that one that cannot be, or
 * whose name is taken, stops the start. Made later, one that fails is there all the same and denies everything.
 * Errors: BAD_REQUEST (not a checker), CONFLICT (two of one name), both with the field.
 */
export function customCheckers(modules: readonly CheckerModule[]): CustomCheckers {
  const makers = modules.map(makerOf);
  const settings = { constraints: mergeConstraints([]), confirmDefault: undefined };
  const first = makers.map(({ checker }) => checker);
  try {
    createEnforcer(checkersInOrder(settings, first));
  } catch (error) {
    if (!(error instanceof HandrailError)) throw error;
    throw new HandrailError(error.code, `constraints.guard.checkers: ${error.message}`, {
      field: 'constraints.guard.checkers',
      cause: error,
    });
  }
  return () => makers.map(({ checker: { name }, create }) => freshOrDenying(name, create));
}

interface Maker {
  /** The one made at the start: it gives the name and is not used. */
  readonly checker: Checker;
  create(): Checker;
}

function makerOf({ path, module }: CheckerModule, index: number): Maker {
  const refuse = (why: string, cause?: unknown): HandrailError => {
    const field = `constraints.guard.checkers.${index}`;
    return new HandrailError('BAD_REQUEST', `${field}: ${path} ${why}`, { field, ...(cause === undefined ? {} : { cause }) });
  };
  const factory = typeof module === 'object' && module !== null && 'createChecker' in module ? module.createChecker : undefined;
  if (typeof factory !== 'function') throw refuse('exports no function createChecker');
  const create = (): Checker => checked(factory());
  try {
    return { checker: create(), create };
  } catch (error) {
    throw refuse(`gives no checker: ${error instanceof Error ? error.message : String(error)}`, error);
  }
}

function checked(made: unknown): Checker {
  if (typeof made !== 'object' || made === null) throw new TypeError('createChecker returned no object');
  const of = (key: string): unknown => Reflect.get(made, key);
  const name = of('name');
  if (typeof name !== 'string' || !NAME.test(name)) throw new TypeError('its name is not a-z, then up to 62 of a-z 0-9 _');
  for (const key of ['check', 'reset']) if (typeof of(key) !== 'function') throw new TypeError(`it has no function ${key}`);
  for (const key of ['save', 'restore'])
    if (of(key) !== undefined && typeof of(key) !== 'function') throw new TypeError(`its ${key} is no function`);
  return made as Checker;
}

function freshOrDenying(name: string, create: () => Checker): Checker {
  try {
    const fresh = create();
    if (fresh.name === name) return fresh;
    return denying(name, `now calls itself ${fresh.name}`);
  } catch (error) {
    return denying(name, `could not be made: ${error instanceof Error ? error.message : String(error)}`.slice(0, 500));
  }
}

const denying = (name: string, why: string): Checker => ({
  name,
  check: async () => ['DENY', `checker ${name} ${why}`],
  reset: () => undefined,
});
