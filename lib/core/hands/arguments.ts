import type { ErrorObject } from 'ajv/dist/2020.js';
import { HandrailError } from '../errors.ts';
import { isJsonObject, type Json, type JsonObject, jsonBytes } from '../json.ts';
import { ARGUMENTS_BYTES } from '../limits.ts';
import type { RawCall } from '../ports/model.ts';
import { coerceArguments, pointerSegments } from './coerce.ts';
import type { ToolDefinition } from './define-tool.ts';
import { readJsonText } from './json-text.ts';
import { nearestName } from './nearest-name.ts';
import { JsonFault, plainJson } from './plain-json.ts';
import { validatorOf } from './schema.ts';

/** One thing that is wrong: `path` is dotted, empty for the arguments as a whole. */
interface ArgumentFault {
  readonly path: string;
  readonly message: string;
}

/** `repaired`: what runs is not what was written; the caller keeps the original for audit. */
export type ArgumentsReading =
  | { readonly ok: true; readonly arguments: JsonObject; readonly repaired: boolean }
  | { readonly ok: false; readonly error: HandrailError; readonly details: readonly ArgumentFault[] };

/** JSON text may spell each byte as `\u00xx`: more than this cannot come under the limit. */
const TEXT_CHARACTERS = 6 * ARGUMENTS_BYTES;
const SHOWN_FAULTS = 10;
const FAULT_CHARACTERS = 200;

/**
 * The arguments of a call as they will run and be hashed, or INVALID_ARGUMENTS with every fault named (seed 004 section 3.2,
 * design 6.3). Repairs only what has one reading; fills in the schema's defaults. Never throws and never repeats long input.
 * `most`: their bytes as JSON.
 */
export function readArguments(
  raw: RawCall['arguments'],
  definition: Pick<ToolDefinition, 'name' | 'parameters'>,
  most: number = ARGUMENTS_BYTES,
): ArgumentsReading {
  const read = readObject(raw);
  if (!read.ok) return refuse(definition, [read.fault]);
  if (jsonBytes(read.value) > most) return refuse(definition, [tooLarge(most)]);
  try {
    const { parameters } = definition;
    const faults = (value: JsonObject): readonly ErrorObject[] => validatorOf(definition)(value);
    const errors = faults(read.value);
    const coerced = errors.length > 0 ? coerceArguments(read.value, parameters, errors) : undefined;
    const valid = coerced !== undefined && faults(coerced).length === 0 ? coerced : read.value;
    const missing = missingArguments(valid, parameters);
    if ((errors.length > 0 && valid === read.value) || missing.length > 0) return refuse(definition, describe(errors, missing, parameters));
    return { ok: true, arguments: withDefaults(valid, parameters), repaired: read.repaired || valid === coerced };
  } catch (error) {
    if (error instanceof HandrailError) return { ok: false, error, details: [] };
    return refuse(definition, [{ path: '', message: 'too deeply nested to be checked' }]);
  }
}

const tooLarge = (most: number): ArgumentFault => ({
  path: '',
  message: `over ${most} bytes: write in parts, or put large data in a file`,
});

function refuse(definition: Pick<ToolDefinition, 'name'>, details: readonly ArgumentFault[]): ArgumentsReading {
  const shown = details.slice(0, SHOWN_FAULTS).map(({ path, message }) => ({
    path: path.slice(0, FAULT_CHARACTERS).toWellFormed(),
    message: message.slice(0, FAULT_CHARACTERS).toWellFormed(),
  }));
  const text = shown.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)).join('; ');
  const more = details.length > shown.length ? `; and ${details.length - shown.length} more` : '';
  const field = shown[0]?.path;
  const error = new HandrailError('INVALID_ARGUMENTS', `invalid arguments for ${definition.name}: ${text}${more}`, field ? { field } : {});
  return { ok: false, error, details: shown };
}

type ObjectReading =
  | { readonly ok: true; readonly value: JsonObject; readonly repaired: boolean }
  | { readonly ok: false; readonly fault: ArgumentFault };

/** Absent, null and empty mean no arguments; whether that will do is for the schema to say. */
function readObject(raw: RawCall['arguments']): ObjectReading {
  const fail = (message: string, path = ''): ObjectReading => ({ ok: false, fault: { path, message } });
  if (raw === undefined || raw === null) return { ok: true, value: {}, repaired: true };
  if (typeof raw === 'string' && raw.length > TEXT_CHARACTERS) return { ok: false, fault: tooLarge(ARGUMENTS_BYTES) };
  if (typeof raw === 'string' && ['', 'null'].includes(raw.trim())) return { ok: true, value: {}, repaired: true };
  const read = typeof raw === 'string' ? readJsonText(raw) : { ok: true as const, value: raw, repaired: false };
  if (!read.ok) return fail(read.message);
  if (typeof read.value !== 'object' || read.value === null || Array.isArray(read.value))
    return fail(`must be one JSON object, not ${kindOf(read.value)}`);
  const value = plainJson(read.value);
  if (value instanceof JsonFault) return fail(value.message, value.path);
  return isJsonObject(value) ? { ok: true, value, repaired: read.repaired } : fail('must be one JSON object');
}

function kindOf(value: Json): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'an array' : `a ${typeof value}`;
}

/** Required arguments that are null without the schema naming null: as good as missing (design 6.2). */
function missingArguments(value: JsonObject, parameters: JsonObject): string[] {
  const { required } = parameters;
  if (!Array.isArray(required)) return [];
  const properties = propertiesOf(parameters);
  return required.filter(
    (key): key is string => typeof key === 'string' && Object.hasOwn(value, key) && value[key] === null && !namesNull(own(properties, key)),
  );
}

function namesNull(schema: Json | undefined): boolean {
  if (!isJsonObject(schema)) return false;
  const { type, enum: values, const: only, anyOf, oneOf } = schema;
  if (type === 'null' || only === null || '$ref' in schema) return true;
  if ((Array.isArray(type) && type.includes('null')) || (Array.isArray(values) && values.includes(null))) return true;
  return [anyOf, oneOf].some((branches) => Array.isArray(branches) && branches.some(namesNull));
}

function propertiesOf({ properties }: JsonObject): JsonObject {
  return isJsonObject(properties) ? properties : {};
}

function own(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** Ajv's errors as a reader wants them: each argument once, unknown ones with the name they may have meant. */
function describe(errors: readonly ErrorObject[], missing: readonly string[], parameters: JsonObject): ArgumentFault[] {
  const known = Object.keys(propertiesOf(parameters));
  const faults = new Map(missing.map((key) => [key, 'is required (null counts as missing)']));
  for (const error of errors) {
    const segments = pointerSegments(error.instancePath);
    const { missingProperty, additionalProperty, unevaluatedProperty, allowedValues } = error.params;
    const unknown = additionalProperty ?? unevaluatedProperty;
    let message = error.message ?? 'is not valid';
    if (typeof missingProperty === 'string') {
      segments.push(missingProperty);
      message = 'is required';
    } else if (typeof unknown === 'string') {
      const nearest = segments.length === 0 ? nearestName(unknown, known) : undefined;
      segments.push(unknown);
      message = nearest === undefined ? 'is not an argument of this tool' : `is not an argument of this tool; did you mean "${nearest}"?`;
    } else if (Array.isArray(allowedValues)) message = `must be one of ${allowedValues.map((value) => JSON.stringify(value)).join(', ')}`;
    const path = segments.join('.');
    if (!faults.has(path)) faults.set(path, message);
  }
  return [...faults].map(([path, message]) => ({ path, message }));
}

/** The schema's defaults for what was not given, inside given objects too. Ajv's own would trust hostile schemas to write. */
function withDefaults(value: JsonObject, schema: JsonObject): JsonObject {
  const result = { ...value };
  for (const [key, property] of Object.entries(propertiesOf(schema))) {
    if (key === '__proto__' || !isJsonObject(property)) continue;
    const { default: preset } = property;
    const given = own(value, key);
    if (given === undefined && preset !== undefined) result[key] = structuredClone(preset);
    else if (isJsonObject(given)) result[key] = withDefaults(given, property);
  }
  return result;
}
