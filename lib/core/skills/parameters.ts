import { HandrailError } from '../errors.ts';
import { checkParameters, validatorOf } from '../hands/schema.ts';
import { isJsonObject, type Json, type JsonObject } from '../json.ts';
import { kindOf } from './name.ts';
import type { Notes } from './notes.ts';
import { referenceProblem } from './schema-references.ts';

/** What every provider takes as the name of an argument. */
const PORTABLE = /^[a-zA-Z0-9_.-]{1,64}$/;
const PATH = ['parameters'];

/**
 * The JSON Schema of a handler skill's arguments, from a JSON Schema or from the seed's short form, a map of arguments
 * with `required: true` inside (seed 004 section 1.3). Undefined after problems were noted.
 */
export function readParameters(value: Json | undefined, toolName: string, notes: Notes): JsonObject | undefined {
  if (!isJsonObject(value)) {
    notes.problem(PATH, `must be a map of arguments, or a JSON Schema, not ${kindOf(value ?? null)}`);
    return undefined;
  }
  const schema = isSchema(value) ? withRequiredLifted(value, notes) : fromShortForm(value, notes);
  if (schema === undefined) return undefined;
  const before = notes.problems.length;
  checkSchema(schema, toolName, notes);
  if (notes.problems.length === before) checkProperties(schema, toolName, notes);
  return notes.problems.length === before ? schema : undefined;
}

/** A short form may have an argument called `type`, which is then a map. */
function isSchema(value: JsonObject): boolean {
  return ['type', '$ref'].some((key) => typeof value[key] === 'string' || Array.isArray(value[key])) || isJsonObject(value['properties']);
}

function fromShortForm(value: JsonObject, notes: Notes): JsonObject | undefined {
  const properties: JsonObject = {};
  const required: string[] = [];
  for (const [name, argument] of Object.entries(value)) {
    if (!isJsonObject(argument)) {
      notes.problem([...PATH, name], `must be a map that says its type, such as { type: string }, not ${kindOf(argument)}`);
      return undefined;
    }
    const { required: isRequired, ...property } = argument;
    // A nested object has a list of its own there.
    if (Array.isArray(isRequired)) property['required'] = isRequired;
    else if (isRequired === true) required.push(name);
    else if (isRequired !== undefined && isRequired !== false) notes.problem([...PATH, name, 'required'], 'must be true or false');
    properties[name] = property;
  }
  return { type: 'object', properties, ...(required.length > 0 ? { required } : {}) };
}

/** `required: true` inside a property, which JSON Schema gave up with draft 4, is moved to where it is now. */
function withRequiredLifted(schema: JsonObject, notes: Notes): JsonObject {
  const { properties } = schema;
  if (!isJsonObject(properties)) return schema;
  const lifted: string[] = [];
  const kept: JsonObject = {};
  for (const [name, property] of Object.entries(properties)) {
    if (!isJsonObject(property) || typeof property['required'] !== 'boolean') {
      kept[name] = property;
      continue;
    }
    const { required, ...rest } = property;
    kept[name] = rest;
    if (required === true) lifted.push(name);
    notes.warn([...PATH, 'properties', name, 'required'], 'belongs in the list "required" of the schema; read as if it were there');
  }
  if (lifted.length === 0) return { ...schema, properties: kept };
  const listed = Array.isArray(schema['required']) ? schema['required'] : [];
  return { ...schema, properties: kept, required: [...new Set([...listed, ...lifted])] };
}

function checkSchema(schema: JsonObject, name: string, notes: Notes): void {
  const reference = referenceProblem(schema);
  if (reference !== undefined) {
    notes.problem(PATH, reference);
    return;
  }
  try {
    checkParameters({ name, parameters: schema });
  } catch (error) {
    notes.problem(
      PATH,
      error instanceof HandrailError ? error.message.replace(/^tool "[^"]*": parameters /, '') : 'cannot be read as a schema',
    );
  }
}

/** What a schema may say and no call could ever keep, or no provider takes. */
function checkProperties(schema: JsonObject, name: string, notes: Notes): void {
  const properties = isJsonObject(schema['properties']) ? schema['properties'] : {};
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  const open = Object.hasOwn(schema, 'additionalProperties') && schema['additionalProperties'] !== false;
  for (const wanted of required)
    if (typeof wanted === 'string' && !Object.hasOwn(properties, wanted) && !open && !isJsonObject(schema['patternProperties']))
      notes.problem([...PATH, 'required'], `"${wanted}" is required and not declared, so that no call could be valid`);
  for (const [key, property] of Object.entries(properties)) {
    const path = [...PATH, 'properties', key];
    if (!PORTABLE.test(key)) notes.warn(path, 'some providers take only A-Z a-z 0-9 _ . - in the name of an argument, up to 64');
    if (!isJsonObject(property) || !Object.hasOwn(property, 'default')) continue;
    const about = `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    const errors = validatorOf({ name, parameters: schema })({ [key]: property['default'] ?? null });
    const wrong = errors.find(({ instancePath }) => instancePath === about || instancePath.startsWith(`${about}/`));
    if (wrong) notes.problem([...path, 'default'], `the default is not valid itself: ${wrong.message ?? 'unknown reason'}`);
  }
}
