import type { ErrorObject } from 'ajv/dist/2020.js';
import { HandrailError } from '../errors.ts';
import { readArguments } from '../hands/arguments.ts';
import { checkParameters, valueValidatorOf } from '../hands/schema.ts';
import { isJsonObject, type Json, type JsonObject } from '../json.ts';
import { BLACKBOARD_BYTES } from '../limits.ts';

/**
 * The JSON Schema of what a skill declares as `inputs` or `outputs`: it may be one already, or the seed's short form, a map of
 * fields with `required: true` inside (seed 004 section 1.3). The same object for the same declaration.
 */
export function declaredSchema(declared: JsonObject): JsonObject {
  const known = schemas.get(declared);
  if (known) return known;
  const schema = isSchema(declared) ? declared : { type: 'object', properties: declared };
  const { properties, required } = schema;
  if (!isJsonObject(properties)) return schema;
  const wanted = new Set(Array.isArray(required) ? required : []);
  const plain = Object.entries(properties).map(([name, property]): [string, Json] => {
    if (!isJsonObject(property) || typeof property['required'] !== 'boolean') return [name, property];
    const { required: isRequired, ...rest } = property;
    if (isRequired) wanted.add(name);
    return [name, rest];
  });
  const lifted: JsonObject = { ...schema, properties: Object.fromEntries(plain), ...(wanted.size > 0 ? { required: [...wanted] } : {}) };
  schemas.set(declared, lifted);
  return lifted;
}

const schemas = new WeakMap<JsonObject, JsonObject>();

/** A short form holds maps only, and may have a field called `type` or `properties`. */
function isSchema(declared: JsonObject): boolean {
  return (
    ['type', '$ref'].some((key) => typeof declared[key] === 'string' || Array.isArray(declared[key])) ||
    isJsonObject(declared['properties']) ||
    Object.values(declared).some((value) => !isJsonObject(value))
  );
}

/** Names of the inputs that may come from the session's state: those that are declared and not given. */
export function inheritable(declared: JsonObject | undefined, given: JsonObject): string[] {
  const { properties } = declared === undefined ? {} : declaredSchema(declared);
  return isJsonObject(properties) ? Object.keys(properties).filter((name) => !Object.hasOwn(given, name)) : [];
}

/** Why a skill's `inputs` or `outputs` cannot be used; undefined when they can. Asked once, when the skill is loaded. */
export function declarationProblem(what: 'inputs' | 'outputs', declared: JsonObject): string | undefined {
  try {
    const schema = declaredSchema(declared);
    if (what === 'inputs') checkParameters({ name: what, parameters: schema });
    else valueValidatorOf(schema);
    return undefined;
  } catch (error) {
    return `${what}: ${error instanceof Error ? error.message.replace(/^tool "[^"]*": parameters /, '') : String(error)}`;
  }
}

/**
 * A tree's inputs by what it declares: what was given, else the value of the same name in the session's
 * state, else the schema's default (seed 000, "inputs"; design section 8). The error is INVALID_ARGUMENTS and names every fault.
 * They fit on a blackboard; those that the schema does not know are refused unless it says otherwise, as with a tool's arguments.
 */
export function resolveInputs(
  declared: JsonObject,
  given: JsonObject,
  sessionState: Readonly<Record<string, Json>>,
): { readonly ok: true; readonly inputs: JsonObject } | { readonly ok: false; readonly error: HandrailError } {
  const schema = declaredSchema(declared);
  const inherited = inheritable(declared, given).filter((name) => Object.hasOwn(sessionState, name));
  const all: JsonObject = { ...Object.fromEntries(inherited.map((name) => [name, sessionState[name] ?? null])), ...given };
  const read = readArguments(all, { name: 'the tree’s inputs', parameters: schema }, BLACKBOARD_BYTES);
  if (read.ok) return { ok: true, inputs: read.arguments };
  const fromState = inherited.filter((name) => read.details.some(({ path }) => path === name || path.startsWith(`${name}.`)));
  if (fromState.length === 0) return { ok: false, error: read.error };
  const origin = ` (not given, so taken from the session's state: ${fromState.join(', ')})`;
  return { ok: false, error: new HandrailError(read.error.code, read.error.message + origin, { cause: read.error }) };
}

const SHOWN_FAULTS = 10;

type Checked = { readonly ok: true } | { readonly ok: false; readonly error: HandrailError };

/** A tree's result against the `outputs` it declares. The error is INVALID_OUTPUT and names the faults, without the values. */
export function checkOutputs(declared: JsonObject, value: Json): Checked {
  return checkValue(declaredSchema(declared), value);
}

/** The same against a JSON Schema, such as the `schema` of an llm node. */
export function checkValue(schema: JsonObject, value: Json): Checked {
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
