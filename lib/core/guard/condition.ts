import { Ajv, type ValidateFunction } from 'ajv';
import { RE2JS } from 're2js';
import { HandrailError } from '../errors.ts';
import { canonicalJson, type JsonObject } from '../json.ts';

/** Compiling one takes milliseconds and a run asks at every step, so each is compiled once per process. */
const KEPT = 200;
let compiled: { ajv: Ajv; conditions: Map<string, ValidateFunction> } | undefined;

/**
 * Whether arguments match a rule's `when` (a JSON Schema). Throws when the schema itself is wrong: it is read strictly,
 * since a misspelt keyword would otherwise match everything. Patterns run by RE2, as the arguments come from a model and
 * must not be able to make one run forever.
 */
export function matchesCondition(when: JsonObject, args: JsonObject): boolean {
  const result: unknown = compile(when)(args);
  if (typeof result !== 'boolean') throw asynchronous();
  return result;
}

/** Why `when` can be no condition; undefined when it can. Asked where rules are written: configuration, requests, live policy. */
export function conditionProblem(when: JsonObject): string | undefined {
  try {
    if (when['$async'] === true) throw asynchronous();
    compile(when);
    return undefined;
  } catch (error) {
    return (error instanceof Error ? error.message : String(error)).slice(0, 300);
  }
}

function compile(when: JsonObject): ValidateFunction {
  if (!compiled || compiled.conditions.size >= KEPT) compiled = { ajv: strictAjv(), conditions: new Map() };
  const key = canonicalJson(when);
  const validate = compiled.conditions.get(key) ?? compiled.ajv.compile(when);
  compiled.conditions.set(key, validate);
  return validate;
}

const asynchronous = (): HandrailError => new HandrailError('BAD_REQUEST', 'a `when` schema must not be asynchronous', { field: 'when' });

function strictAjv(): Ajv {
  return new Ajv({
    strict: true,
    strictTypes: false,
    strictRequired: false,
    strictTuples: false,
    allowUnionTypes: true,
    addUsedSchema: false,
    logger: false,
    code: { regExp: Object.assign((pattern: string) => RE2JS.compile(RE2JS.translateRegExp(pattern)), { code: 're2' }) },
  });
}
