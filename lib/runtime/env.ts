import * as z from 'zod';
import { HandrailError } from '../core/errors.ts';
import { ENV, type EnvKey } from '../manifest.ts';

/** Values by key of the manifest's `ENV`. */
export type FunctionEnvironment<Key extends EnvKey> = Readonly<Record<Key, string>>;

const valueSchema = z.string().min(1);

/** Reads the environment variables that a function was promised. HandrailError INTERNAL names each that is missing. */
export function readEnvironment<Key extends EnvKey>(
  keys: readonly Key[],
  env: Readonly<Record<string, string | undefined>>,
): FunctionEnvironment<Key> {
  const values: Partial<Record<Key, string>> = {};
  const missing: string[] = [];
  for (const key of keys) {
    const value = valueSchema.safeParse(env[ENV[key]]);
    if (value.success) values[key] = value.data;
    else missing.push(ENV[key]);
  }
  if (missing.length > 0) throw new HandrailError('INTERNAL', `the environment lacks ${missing.join(', ')}`);
  return values as Record<Key, string>;
}
