import type { ErrorObject } from 'ajv/dist/2020.js';
import { HandrailError } from '../errors.ts';
import { readArguments } from '../hands/arguments.ts';
import { valueValidatorOf } from '../hands/schema.ts';
import { isJsonObject, type Json, type JsonObject } from '../json.ts';

/**
 * A tree's inputs by its schema (JSON Schema of an object): what was given, else the value of the same name in the session's
 * state, else the schema's default (seed 000, "inputs"; design section 8). The error is INVALID_ARGUMENTS and names every fault.
 * Inputs that the schema does not know are refused unless it says otherwise, as with a tool's arguments.
 */
export function resolveInputs(
  schema: JsonObject,
  given: JsonObject,
  sessionState: Readonly<Record<string, Json>>,
): { readonly ok: true; readonly inputs: JsonObject } | { readonly ok: false; readonly error: HandrailError } {
  const { properties } = schema;
  const names = isJsonObject(properties) ? Object.keys(properties) : [];
  const inherited = names.filter((name) => !Object.hasOwn(given, name) && Object.hasOwn(sessionState, name));
  const all: JsonObject = { ...Object.fromEntries(inherited.map((name) => [name, sessionState[name] ?? null])), ...given };
  const read = readArguments(all, { name: 'the tree’s inputs', parameters: schema });
  if (read.ok) return { ok: true, inputs: read.arguments };
  const fromState = inherited.filter((name) => read.details.some(({ path }) => path === name || path.startsWith(`${name}.`)));
  if (fromState.length === 0) return { ok: false, error: read.error };
  const origin = ` (not given, so taken from the session's state: ${fromState.join(', ')})`;
  return { ok: false, error: new HandrailError(read.error.code, read.error.message + origin, { cause: read.error }) };
}

const SHOWN_FAULTS = 10;

/**
 * A result against the schema that was promised for it: a tree's `outputs`, the `schema` of an llm node. The error is
 * INVALID_OUTPUT and names the faults, without the values.
 */
export function checkOutputs(
  schema: JsonObject,
  value: Json,
): { readonly ok: true } | { readonly ok: false; readonly error: HandrailError } {
  try {
    const faults = valueValidatorOf(schema)(value);
    if (faults.length === 0) return { ok: true };
    const more = faults.length > SHOWN_FAULTS ? `; and ${faults.length - SHOWN_FAULTS} more` : '';
    return invalid(faults.slice(0, SHOWN_FAULTS).map(describe).join('; ') + more);
  } catch (error) {
    // A schema that refers to itself without end, or a value too deep for it.
    return invalid(`it could not be checked: ${error instanceof Error ? error.message : String(error)}`, error);
  }
}

function invalid(why: string, cause?: unknown): { readonly ok: false; readonly error: HandrailError } {
  const message = `the result does not have the promised shape: ${why}`;
  return { ok: false, error: new HandrailError('INVALID_OUTPUT', message.slice(0, 2_000), cause === undefined ? {} : { cause }) };
}

function describe({ instancePath, message = 'is not valid', params }: ErrorObject): string {
  const path = instancePath.slice(1).replaceAll('/', '.');
  const { allowedValues } = params;
  const expected = Array.isArray(allowedValues) ? ` (${allowedValues.map((value) => JSON.stringify(value)).join(', ')})` : '';
  return `${path === '' ? '' : `${path} `}${message}${expected}`.slice(0, 200);
}
