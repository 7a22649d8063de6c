import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { RE2JS } from 're2js';
import { HandrailError } from '../errors.ts';
import { isJsonObject, type Json, type JsonObject, jsonBytes } from '../json.ts';
import { JSON_DEPTH, SCHEMA_BYTES } from '../limits.ts';
import type { ToolDefinition } from './define-tool.ts';

export type Validate = (value: JsonObject) => readonly ErrorObject[];

/** Keywords that bring in properties from elsewhere: with them, "unknown" can only be judged by `unevaluatedProperties`. */
const COMPOSING = ['allOf', 'anyOf', 'oneOf', 'if', '$ref', '$dynamicRef', 'dependentSchemas', 'not'];

/**
 * Throws BAD_REQUEST for parameters that the rules of JSON Schema itself refuse. For schemas that come from outside, once, when
 * they are loaded: compiling those rules takes longer than everything else here, so calls do without.
 */
export function checkParameters(definition: Pick<ToolDefinition, 'name' | 'parameters'>): void {
  validatorOf(definition);
  checker ??= createAjv(true);
  if (checker.validateSchema(closed(definition.parameters)) !== true)
    throw refuse(definition, `are not JSON Schema: ${checker.errorsText().slice(0, 300)}`);
}

/**
 * Checks any value against any schema, taken as it is: what it does not mention is allowed. An empty list = valid. Compiled once
 * per schema object. Throws BAD_REQUEST as `validatorOf` does, and for a schema that is asynchronous.
 */
export function valueValidatorOf(schema: JsonObject): (value: Json) => readonly ErrorObject[] {
  const known = compiledValues.get(schema);
  if (known) return known;
  const { $schema: _dialect, $id: _id, ...plain } = schema;
  if (plain['$async'] === true) throw unusable('it is asynchronous');
  if (depthOf(schema) > JSON_DEPTH) throw unusable(`it is nested deeper than ${JSON_DEPTH} levels`);
  if (jsonBytes(schema) > SCHEMA_BYTES) throw unusable(`it is over ${SCHEMA_BYTES} bytes`);
  try {
    ajv ??= createAjv(false);
    const validate = ajv.compile(plain);
    const check = (value: Json): readonly ErrorObject[] => (validate(value) ? [] : [...(validate.errors ?? [])]);
    compiledValues.set(schema, check);
    return check;
  } catch (error) {
    throw unusable(error instanceof Error ? error.message.slice(0, 300) : 'unknown error', error);
  }
}

function unusable(why: string, cause?: unknown): HandrailError {
  return new HandrailError('BAD_REQUEST', `not a JSON Schema that can be used: ${why}`, cause === undefined ? {} : { cause });
}

const compiledValues = new WeakMap<JsonObject, (value: Json) => readonly ErrorObject[]>();
const compiled = new WeakMap<JsonObject, Validate>();
let ajv: Ajv2020 | undefined;
let checker: Ajv2020 | undefined;

/**
 * Checks arguments against a tool's `parameters`; an empty list = valid. Compiled once per definition. Unknown arguments are
 * refused unless the schema says otherwise (design 6.2). Patterns run in linear time. Throws BAD_REQUEST for a schema that is
 * too large, too deep or cannot be compiled in ajv's strict mode (2020-12).
 */
export function validatorOf(definition: Pick<ToolDefinition, 'name' | 'parameters'>): Validate {
  const known = compiled.get(definition.parameters);
  if (known) return known;
  const validate = compile(definition);
  const check: Validate = (value) => (validate(value) ? [] : [...(validate.errors ?? [])]);
  compiled.set(definition.parameters, check);
  return check;
}

function refuse({ name }: Pick<ToolDefinition, 'name'>, why: string, cause?: unknown): HandrailError {
  return new HandrailError('BAD_REQUEST', `tool "${name}": parameters ${why}`, {
    field: 'parameters',
    ...(cause === undefined ? {} : { cause }),
  });
}

function compile(definition: Pick<ToolDefinition, 'name' | 'parameters'>): ValidateFunction {
  const { parameters } = definition;
  if (depthOf(parameters) > JSON_DEPTH) throw refuse(definition, `are nested deeper than ${JSON_DEPTH} levels`);
  if (jsonBytes(parameters) > SCHEMA_BYTES) throw refuse(definition, `are over ${SCHEMA_BYTES} bytes`);
  const { type } = parameters;
  if (type !== 'object') throw refuse(definition, 'must have the type "object"');
  try {
    ajv ??= createAjv(false);
    return ajv.compile(closed(parameters));
  } catch (error) {
    throw refuse(
      definition,
      `are not a schema that can be used: ${error instanceof Error ? error.message.slice(0, 300) : 'unknown error'}`,
      error,
    );
  }
}

function createAjv(validateSchema: boolean): Ajv2020 {
  return new Ajv2020({
    strict: true,
    validateSchema,
    // Two common, harmless forms: `type: ["string", "null"]`, and `anyOf` of `required` lists.
    allowUnionTypes: true,
    strictRequired: false,
    allErrors: true,
    verbose: true,
    // `format` is an annotation in 2020-12; schemas from elsewhere use names ajv does not know.
    validateFormats: false,
    addUsedSchema: false,
    logger: false,
    code: { regExp: linearRegExp },
  });
}

/** Ajv keys its patterns by `toString()`: without one of its own, every pattern of a schema would be the first. */
const linearRegExp = Object.assign(
  (pattern: string) => {
    const matcher = RE2JS.compile(pattern);
    return { test: (text: string): boolean => matcher.test(text), toString: () => `/${pattern}/` };
  },
  { code: 'linearRegExp' },
);

/** The schema with unknown arguments refused where it says nothing about them, and without names that could clash between tools. */
function closed(parameters: JsonObject): JsonObject {
  const { $schema: _dialect, $id: _id, ...schema } = parameters;
  if ('additionalProperties' in schema || 'unevaluatedProperties' in schema) return schema;
  return COMPOSING.some((keyword) => keyword in schema)
    ? { ...schema, unevaluatedProperties: false }
    : { ...schema, additionalProperties: false };
}

/** Levels of nesting, counted without recursion. */
function depthOf(value: Json): number {
  let level: Json[] = [value];
  let depth = 0;
  while (level.length > 0 && depth <= JSON_DEPTH) {
    depth += 1;
    level = level.flatMap((item) => (Array.isArray(item) ? item : isJsonObject(item) ? Object.values(item) : []));
  }
  return depth;
}
