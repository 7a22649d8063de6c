import { isJsonObject, type Json, type JsonObject } from '../json.ts';

/** Keywords whose schemas judge the same value as the schema they stand in. */
const SAME_VALUE_LISTS = ['allOf', 'anyOf', 'oneOf'];
const SAME_VALUE = ['not', 'if', 'then', 'else'];

/**
 * Why the references of a schema cannot be followed, or undefined: one that leads out of the schema would be fetched, one
 * that leads back to itself without going deeper into the value never ends.
 */
export function referenceProblem(schema: JsonObject): string | undefined {
  const entered = new Set<JsonObject>();
  for (const part of partsOf(schema)) {
    for (const keyword of ['$dynamicRef', '$recursiveRef', '$dynamicAnchor', '$anchor'])
      if (Object.hasOwn(part, keyword)) return `${keyword} is not supported; refer to parts as "#/…"`;
    const reference = part['$ref'];
    if (reference === undefined) continue;
    if (typeof reference !== 'string' || !/^#(?:\/|$)/.test(reference)) return `$ref ${JSON.stringify(reference)} leads out of the schema`;
    if (resolve(schema, reference) === undefined) return `$ref "${reference}" leads nowhere`;
    if (!entered.has(part) && circles(schema, part, entered)) return `$ref "${reference}" leads back to itself`;
  }
  return undefined;
}

/** Depth first along references and keywords that judge the same value. `done`: parts that are known to end. */
function circles(root: JsonObject, start: JsonObject, done: Set<JsonObject>): boolean {
  const open = new Set<JsonObject>();
  const visit = (part: JsonObject): boolean => {
    if (open.has(part)) return true;
    if (done.has(part)) return false;
    open.add(part);
    const found = nextParts(root, part).some(visit);
    open.delete(part);
    done.add(part);
    return found;
  };
  return visit(start);
}

function nextParts(root: JsonObject, part: JsonObject): JsonObject[] {
  const reference = part['$ref'];
  const target = typeof reference === 'string' ? resolve(root, reference) : undefined;
  const lists = SAME_VALUE_LISTS.flatMap((keyword) => {
    const list = part[keyword];
    return Array.isArray(list) ? list : [];
  });
  return [target, ...lists, ...SAME_VALUE.map((keyword) => part[keyword])].filter(isJsonObject);
}

/** What a JSON pointer behind `#` points at. */
function resolve(root: JsonObject, reference: string): JsonObject | undefined {
  const steps = reference.slice(1).split('/').slice(1);
  let value: Json | undefined = root;
  for (const step of steps) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(value)) value = value[Number(key)];
    else value = isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  }
  return isJsonObject(value) ? value : undefined;
}

/** Every map in the schema, without recursion. */
function partsOf(schema: JsonObject): JsonObject[] {
  const parts: JsonObject[] = [];
  const left: Json[] = [schema];
  for (let value = left.pop(); value !== undefined; value = left.pop()) {
    if (Array.isArray(value)) left.push(...value);
    else if (isJsonObject(value)) {
      parts.push(value);
      left.push(...Object.values(value));
    }
  }
  return parts;
}
