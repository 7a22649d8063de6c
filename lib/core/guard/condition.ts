import { Ajv, type ValidateFunction } from 'ajv';
import { RE2JS } from 're2js';
import { HandrailError } from '../errors.ts';
import type { JsonObject } from '../json.ts';

/** Answers whether arguments match a rule's `when` (a JSON Schema). Throws when the schema itself is wrong. */
export type Conditions = (when: JsonObject, args: JsonObject) => boolean;

/**
 * Conditions compiled once each. Strict, since a misspelt keyword would otherwise match everything or nothing; patterns
 * run by RE2, since the arguments come from a model and must not be able to make a pattern run forever.
 */
export function createConditions(): Conditions {
  let ajv: Ajv | undefined;
  const compiled = new Map<JsonObject, ValidateFunction>();
  return (when, args) => {
    ajv ??= new Ajv({
      strict: true,
      strictTypes: false,
      strictRequired: false,
      strictTuples: false,
      allowUnionTypes: true,
      addUsedSchema: false,
      logger: false,
      code: { regExp: Object.assign((pattern: string) => RE2JS.compile(RE2JS.translateRegExp(pattern)), { code: 're2' }) },
    });
    const validate = compiled.get(when) ?? ajv.compile(when);
    compiled.set(when, validate);
    const result: unknown = validate(args);
    if (typeof result !== 'boolean') throw new HandrailError('BAD_REQUEST', 'a `when` schema must not be asynchronous', { field: 'when' });
    return result;
  };
}
