import type { Json, JsonObject } from '../json.ts';
import { JSON_DEPTH } from '../limits.ts';

/** What is wrong with a value, and where (dotted path). */
export class JsonFault {
  readonly path: string;
  readonly message: string;
  constructor(path: string, message: string) {
    this.path = path;
    this.message = message;
  }
}

/**
 * A copy of `value` that is plain JSON and safe to merge, hash, store and hand on, or what forbids it: nesting that is too
 * deep, numbers JSON lacks, text that cannot be written as UTF-8 or holds NUL, keys that reach for a prototype. −0 becomes 0.
 */
export function plainJson(value: unknown, path = '', depth = 0): Json | JsonFault {
  if (depth > JSON_DEPTH) return new JsonFault(path.slice(0, 100), `nested deeper than ${JSON_DEPTH} levels`);
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'string') return plainText(value, path);
  if (typeof value === 'number') return Number.isFinite(value) ? value + 0 : new JsonFault(path, 'must be a finite number');
  if (Array.isArray(value)) {
    const items: Json[] = [];
    for (const [index, item] of value.entries()) {
      const copy = plainJson(item, below(path, String(index)), depth + 1);
      if (copy instanceof JsonFault) return copy;
      items.push(copy);
    }
    return items;
  }
  if (typeof value === 'object') return plainObject(value, path, depth);
  return new JsonFault(path, 'is not JSON');
}

function plainObject(value: object, path: string, depth: number): JsonObject | JsonFault {
  // Of a Set or a Date nothing would be left but {}.
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype) return new JsonFault(path, 'is not JSON');
  const result: JsonObject = {};
  for (const [key, item] of Object.entries(value)) {
    if (item === undefined) continue;
    const reachesPrototype =
      key === '__proto__' || (key === 'constructor' && typeof item === 'object' && item !== null && Object.hasOwn(item, 'prototype'));
    if (reachesPrototype) return new JsonFault(below(path, key), `the key "${key}" is not allowed`);
    const place = plainText(key, path);
    if (place instanceof JsonFault) return place;
    const copy = plainJson(item, below(path, key), depth + 1);
    if (copy instanceof JsonFault) return copy;
    result[key] = copy;
  }
  return result;
}

function plainText(text: string, path: string): string | JsonFault {
  if (text.includes('\0')) return new JsonFault(path, 'holds a NUL character');
  return text.isWellFormed() ? text : new JsonFault(path, 'holds half a character (a lone surrogate)');
}

function below(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}
