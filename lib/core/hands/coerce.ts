import type { ErrorObject } from 'ajv/dist/2020.js';
import { isJsonObject, type Json, type JsonObject } from '../json.ts';
import { readJsonText } from './json-text.ts';
import { JsonFault, plainJson } from './plain-json.ts';

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Inside these, another branch may take the value as it is: the schema leaves a doubt. */
const ALTERNATIVES = /\/(?:anyOf|oneOf|not|if|then|else|contains)(?:\/|$)/;

/**
 * The arguments with what the schema leaves no doubt about put right, or undefined when there is nothing to put right:
 * `"500"` where a number is asked for, `"true"` for a boolean, JSON text for an object or array, null for an optional
 * argument (as if it were absent). Changes nothing in place; the result must be validated again.
 */
export function coerceArguments(value: JsonObject, parameters: JsonObject, errors: readonly ErrorObject[]): JsonObject | undefined {
  const { required: names } = parameters;
  const copy = structuredClone(value);
  const required = Array.isArray(names) ? names : [];
  let changed = false;
  for (const error of errors) {
    const path = pointerSegments(error.instancePath);
    const [first, ...rest] = path;
    if (first === undefined || ALTERNATIVES.test(error.schemaPath)) continue;
    if (error.data === null && rest.length === 0 && !required.includes(first)) {
      delete copy[first];
      changed = true;
    } else if (error.keyword === 'type' && typeof error.data === 'string') {
      const fixed = readAs(error.data, error.schema);
      if (fixed !== undefined) changed = replaceAt(copy, path, fixed) || changed;
    }
  }
  return changed ? copy : undefined;
}

/** The value that a text stands for where the schema asks for one type and no other. */
function readAs(text: string, type: unknown): Json | undefined {
  switch (type) {
    case 'number':
    case 'integer': {
      const value = Number(text);
      const exact = Number.isFinite(value) && (Number.isSafeInteger(value) || !/^-?\d+$/.test(text));
      return NUMBER.test(text) && exact ? value + 0 : undefined;
    }
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : undefined;
    case 'object':
    case 'array': {
      const read = readJsonText(text, 0);
      const inner = read.ok && !read.repaired ? plainJson(read.value) : undefined;
      if (inner === undefined || inner instanceof JsonFault) return undefined;
      return (type === 'array' ? Array.isArray(inner) : isJsonObject(inner)) ? inner : undefined;
    }
    default:
      return undefined;
  }
}

function replaceAt(root: JsonObject, path: readonly string[], fixed: Json): boolean {
  let place: Json | undefined = root;
  for (const segment of path.slice(0, -1))
    place = Array.isArray(place) ? place[Number(segment)] : isJsonObject(place) ? place[segment] : undefined;
  const last = path.at(-1);
  if (last === undefined) return false;
  if (Array.isArray(place)) place[Number(last)] = fixed;
  else if (isJsonObject(place)) place[last] = fixed;
  else return false;
  return true;
}

/** Segments of a JSON pointer as ajv writes it. */
export function pointerSegments(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
}
