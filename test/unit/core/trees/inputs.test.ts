import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../lib/core/json.ts';
import { checkOutputs, checkValue, declarationProblem, declaredSchema, resolveInputs } from '../../../../lib/core/trees/inputs.ts';

const schema: JsonObject = {
  type: 'object',
  properties: { version: { type: 'string' }, dry: { type: 'boolean', default: true }, level: { type: 'integer' } },
  required: ['version'],
};

describe('inputs', () => {
  it('are what was given, else the state of the session, else the default', () => {
    const state = { version: 'from state', level: 3, dry: false, other: 'not asked for' };
    expect(resolveInputs(schema, { version: '1.0' }, {})).toEqual({ ok: true, inputs: { version: '1.0', dry: true } });
    expect(resolveInputs(schema, { version: '1.0' }, state)).toEqual({ ok: true, inputs: { version: '1.0', level: 3, dry: false } });
    expect(resolveInputs(schema, {}, state)).toEqual({ ok: true, inputs: { version: 'from state', level: 3, dry: false } });
  });

  it('that are missing, wrong or unknown are told, all at once', () => {
    const refused = resolveInputs(schema, { dry: { no: 1 }, versoin: '1' }, {});
    expect(refused).toMatchObject({ ok: false, error: { code: 'INVALID_ARGUMENTS' } });
    expect(refused.ok ? '' : refused.error.message).toMatch(
      /version: is required.*versoin: is not an argument of this tool; did you mean "version"\?/,
    );
    expect(refused.ok ? '' : refused.error.message).toContain('dry: must be boolean');
  });

  it('that the session’s state has in another shape are told with where they come from', () => {
    const refused = resolveInputs(schema, { version: '1' }, { level: { deep: 1 } });
    expect(refused.ok ? '' : refused.error.message).toContain("(not given, so taken from the session's state: level)");
  });
});

describe('a declaration', () => {
  it('in short form is a JSON Schema with its `required` moved', () => {
    expect(declaredSchema({ url: { type: 'string', required: true }, type: { type: 'string', required: false } })).toEqual({
      type: 'object',
      properties: { url: { type: 'string' }, type: { type: 'string' } },
      required: ['url'],
    });
  });

  it('that is a JSON Schema stays one', () => {
    expect(declaredSchema(schema)).toEqual(schema);
    expect(declaredSchema({ type: 'string' })).toEqual({ type: 'string' });
    expect(declaredSchema({})).toEqual({ type: 'object', properties: {} });
  });

  it('that cannot be used is told', () => {
    expect(declarationProblem('inputs', { url: { type: 'strin' } })).toMatch(/^inputs: are not .*strin/);
    expect(declarationProblem('outputs', { type: 'nope' })).toMatch(/^outputs: not a JSON Schema that can be used/);
    expect(declarationProblem('inputs', schema)).toBeUndefined();
    expect(declarationProblem('outputs', { ok: { type: 'boolean', required: true } })).toBeUndefined();
  });
});

describe('outputs', () => {
  it('are checked against what was promised', () => {
    const promised: JsonObject = { ok: { type: 'boolean', required: true }, level: { enum: ['low', 'high'] } };
    expect(checkOutputs(promised, { ok: true, level: 'low', more: 1 })).toEqual({ ok: true });
    const refused = checkOutputs(promised, { level: 'medium' });
    expect(refused).toMatchObject({ ok: false, error: { code: 'INVALID_OUTPUT' } });
    expect(refused.ok ? '' : refused.error.message).toContain('level must be equal to one of the allowed values ("low", "high")');
    expect(checkOutputs(promised, 'text')).toMatchObject({ ok: false });
  });

  it('of an llm node may be of any JSON Schema', () => {
    expect(checkValue({ type: 'array', items: { type: 'string' } }, ['a'])).toEqual({ ok: true });
    expect(checkValue({ type: 'array', items: { type: 'string' } }, [1])).toMatchObject({ ok: false });
    expect(checkValue({ enum: ['yes', 'no'] }, 'no')).toEqual({ ok: true });
  });

  it('are refused, not crashed on, when the schema never ends', () => {
    expect(checkValue({ $defs: { a: { $ref: '#/$defs/a' } }, $ref: '#/$defs/a' }, 1)).toMatchObject({
      ok: false,
      error: { code: 'INVALID_OUTPUT' },
    });
  });
});
