import { describe, expect, it } from 'vitest';
import { readArguments } from '../../../../lib/core/hands/arguments.ts';
import { checkParameters, validatorOf } from '../../../../lib/core/hands/schema.ts';
import { type Json, type JsonObject, jsonObjectSchema } from '../../../../lib/core/json.ts';
import { ARGUMENTS_BYTES } from '../../../../lib/core/limits.ts';

const tool = (properties: JsonObject, required: string[] = [], more: JsonObject = {}) => ({
  name: 'a_tool',
  parameters: { type: 'object', properties, required, ...more } as JsonObject,
});
const readFile = tool({ path: { type: 'string', minLength: 1 }, limit: { type: 'integer', minimum: 1 } }, ['path']);
const noParameters = tool({});

function accepted(raw: Json | undefined, definition = readFile): JsonObject {
  const reading = readArguments(raw, definition);
  if (!reading.ok) throw reading.error;
  return reading.arguments;
}

function refused(raw: Json | undefined, definition = readFile): string {
  const reading = readArguments(raw, definition);
  if (reading.ok) throw new Error(`accepted as ${JSON.stringify(reading.arguments)}`);
  expect(reading.error.code).toBe('INVALID_ARGUMENTS');
  return reading.error.message;
}

describe('R43 no arguments', () => {
  it.each([[''], ['  \n'], [undefined], [null], ['null'], ['{}']])('%j is {} for a tool without required arguments', (raw) => {
    expect(accepted(raw, noParameters)).toEqual({});
  });

  it.each([[''], [undefined], [null], ['null'], ['{}']])('%j lacks what a tool requires', (raw) => {
    expect(refused(raw)).toContain('path: is required');
  });
});

describe('R45 JSON that is not an object', () => {
  it.each([['[]'], ['"x"'], ['42'], ['true'], ['[{"path":"a"}]'], ['"[1]"']])('%s is refused, not run', (raw) => {
    expect(refused(raw)).toContain('must be one JSON object');
    expect(refused(raw, noParameters)).toContain('must be one JSON object');
  });

  it('never repeats a bad payload of 1 MB', () => {
    for (const raw of [
      'x'.repeat(1_000_000),
      `{"path":"${'x'.repeat(500_000)}`,
      `["${'x'.repeat(600_000)}"]`,
      { [`k${'x'.repeat(100_000)}`]: 1, path: 'a' },
    ])
      expect(refused(raw).length).toBeLessThan(3_000);
  });
});

describe('repairs that guess nothing', () => {
  it.each([
    ['```json\n{"path":"a"}\n```', { path: 'a' }],
    ['```\n{"path":"a"}```', { path: 'a' }],
    ['"{\\"path\\":\\"a\\"}"', { path: 'a' }],
    ['{"path":"a",}', { path: 'a' }],
    ['{"path":"a"}<|im_end|>', { path: 'a' }],
    ["{'path': 'a'}", { path: 'a' }],
    ['{“path”: “a”}', { path: 'a' }],
    ['{path: "a", limit: 5}', { path: 'a', limit: 5 }],
    ['{"path":"a\nb\t"}', { path: 'a\nb\t' }],
    ['{"path":"a","limit":"500"}', { path: 'a', limit: 500 }],
    [
      { path: 'a', limit: '7' },
      { path: 'a', limit: 7 },
    ],
    ['{"path":"a","limit":null}', { path: 'a' }],
    ['\ufeff{"path":"a"}', { path: 'a' }],
  ])('%j', (raw, expected) => {
    const reading = readArguments(raw, readFile);
    expect(reading).toMatchObject({ ok: true, arguments: expected });
  });

  it('says whether what runs is what was written', () => {
    expect(readArguments('{"path":"a"}', readFile)).toMatchObject({ repaired: false });
    expect(readArguments('{"path":"a",}', readFile)).toMatchObject({ repaired: true });
    expect(readArguments({ path: 'a', limit: '7' }, readFile)).toMatchObject({ repaired: true });
  });

  it('reads booleans and JSON text where the schema takes nothing else', () => {
    const definition = tool({
      deep: { type: 'object', properties: { on: { type: 'boolean' } } },
      list: { type: 'array', items: { type: 'string' } },
    });
    expect(accepted({ deep: { on: 'true' }, list: '["a"]' }, definition)).toEqual({ deep: { on: true }, list: ['a'] });
  });

  it('leaves text alone where the schema could mean it', () => {
    const definition = tool({
      value: {},
      either: { anyOf: [{ type: 'integer' }, { type: 'boolean' }] },
      union: { type: ['integer', 'boolean'] },
    });
    expect(accepted({ value: '500' }, definition)).toEqual({ value: '500' });
    expect(refused({ either: '500' }, definition)).toContain('either');
    expect(refused({ union: 'true' }, definition)).toContain('union');
  });

  it.each([
    ['{"path":"a"'],
    ['{"path":"a","limit":1'],
    ['{"path":"a"}{"path":"b"}'],
    ['{"path":"a"} and then'],
    ['{"path": a}'],
    ["{'path': 'it's'}"],
    ['{"path":"a" "limit":1}'],
    ['{"path":"a","limit":0x10}'],
    ['{"path":"a","limit":"0x10"}'],
    ['{"path":"a","limit":" 5"}'],
    ['{"path":"a","limit":""}'],
    ['{"path":"a","limit":Infinity}'],
    ['{,}'],
    ['undefined'],
  ])('%s is asked for again', (raw) => {
    expect(refused(raw)).toContain('invalid arguments for a_tool');
  });
});

describe('broken JSON', () => {
  it.each([
    ['{"path":"a"', 'ends too early, after 11 characters'],
    ['{"path":"a', 'ends too early, after 10 characters'],
    ['{', 'ends too early, after 1 characters'],
    ['path=a', 'unexpected text at character 1 of 6'],
    ['{"path":"a"}}', 'unexpected text at character 13 of 13'],
  ])('%s: where it stops being JSON', (raw, why) => {
    expect(refused(raw)).toContain(why);
  });
});

describe('what a parser would pass over in silence', () => {
  it.each([
    ['a duplicate key', '{"path":"a","path":"b"}', 'twice'],
    ['a duplicate key spelled with escapes', '{"path":"a","p\\u0061th":"b"}', 'twice'],
    ['a duplicate key deep inside', '{"path":"a","x":[{"k":1,"k":2}]}', 'twice'],
    ['digits a double cannot hold', '{"path":"a","limit":12345678901234567890}', 'too large'],
    ['infinity', '{"path":"a","limit":1e999}', 'too large'],
    ['__proto__', '{"path":"a","__proto__":{"polluted":1}}', '__proto__'],
    ['constructor.prototype', '{"path":"a","constructor":{"prototype":{"polluted":1}}}', 'constructor'],
    ['__proto__ in text that stands for an object', { o: '{"__proto__":{"polluted":1}}' }, 'o'],
    ['NUL', '{"path":"a\\u0000b"}', 'NUL'],
    ['half a character', '{"path":"a\\ud83d"}', 'half a character'],
    ['nesting without end', `{"path":"a","x":${'['.repeat(50_000)}${']'.repeat(50_000)}}`, 'nested'],
  ])('%s is refused', (_name, raw, why) => {
    const definition = tool({ path: { type: 'string' }, limit: { type: 'integer' }, o: { type: 'object' }, x: {} }, [], {
      additionalProperties: {},
    });
    expect(refused(raw, definition)).toContain(why);
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
  });

  it('equal keys in different objects are no duplicates', () => {
    expect(accepted('{"a":{"k":1},"b":[{"k":1},{"k":2}],"k":"k"}', tool({ a: {}, b: {}, k: {} }))).toHaveProperty('b');
  });
});

describe('the schema', () => {
  it('counts a required null as missing, unless the schema names null', () => {
    expect(refused({ path: null })).toContain('path: is required');
    expect(refused({ value: null }, tool({ value: {} }, ['value']))).toContain('value: is required');
    expect(accepted({ value: null }, tool({ value: { type: ['string', 'null'] } }, ['value']))).toEqual({ value: null });
  });

  it('refuses unknown arguments and names the one that may have been meant', () => {
    expect(refused({ path: 'a', limits: 5 })).toContain('limits: is not an argument of this tool; did you mean "limit"?');
  });

  it('takes unknown arguments where the schema says so', () => {
    expect(accepted({ other: 1 }, tool({}, [], { additionalProperties: true }))).toEqual({ other: 1 });
  });

  it('judges unknown arguments of a composed schema by all of its parts', () => {
    const definition = tool({ a: { type: 'string' } }, [], { allOf: [{ type: 'object', properties: { b: { type: 'string' } } }] });
    expect(accepted({ a: 'x', b: 'y' }, definition)).toEqual({ a: 'x', b: 'y' });
    expect(refused({ c: 1 }, definition)).toContain('c: is not an argument');
  });

  it('fills in defaults, inside given objects too, and never shares them between calls', () => {
    const definition = tool({
      list: { type: 'array', default: [] },
      deep: { type: 'object', properties: { mode: { type: 'string', default: 'fast' } } },
    });
    const first = accepted({ deep: {} }, definition);
    expect(first).toEqual({ list: [], deep: { mode: 'fast' } });
    for (const list of Object.values(first)) if (Array.isArray(list)) list.push(1);
    expect(accepted('{}', definition)).toEqual({ list: [] });
  });

  it('names every fault with its path, ten at most', () => {
    const reading = readArguments({ path: '', limit: 0 }, readFile);
    expect(reading).toMatchObject({ ok: false, details: [{ path: 'path' }, { path: 'limit' }] });
    const many = readArguments(Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`x${n}`, 1])), readFile);
    expect(many).toMatchObject({ ok: false, details: { length: 10 }, error: { message: expect.stringContaining('and 41 more') } });
  });

  it('matches each pattern by itself, in linear time', () => {
    const definition = tool({
      a: { type: 'string', pattern: '^a$' },
      b: { type: 'string', pattern: '^b$' },
      evil: { type: 'string', pattern: '^(a+)+$' },
    });
    expect(accepted({ a: 'a', b: 'b' }, definition)).toEqual({ a: 'a', b: 'b' });
    expect(refused({ a: 'b' }, definition)).toContain('a: must match pattern');
    expect(refused({ b: 'a' }, definition)).toContain('b: must match pattern');
    expect(refused({ evil: `${'a'.repeat(50_000)}!` }, definition)).toContain('evil');
  });

  it('refuses arguments over the limit, counted in bytes of UTF-8', () => {
    const definition = tool({ text: { type: 'string' } });
    const room = ARGUMENTS_BYTES - '{"text":""}'.length;
    expect(accepted({ text: 'x'.repeat(room) }, definition)).toHaveProperty('text');
    expect(refused({ text: 'x'.repeat(room + 1) }, definition)).toContain('write in parts');
    expect(refused({ text: '€'.repeat(room / 2) }, definition)).toContain('write in parts');
    expect(refused(`{"text":"${'x'.repeat(room + 1)}"}`, definition)).toContain('write in parts');
  });

  it.each([
    ['too large', { type: 'object', description: 'x'.repeat(40_000) }],
    ['too deep', { type: 'object', properties: { x: JSON.parse(`${'{"items":'.repeat(70)}{}${'}'.repeat(70)}`) } }],
    ['no object', { type: 'string' }],
    ['not valid', { type: 'object', properties: { x: { type: 'strange' } } }],
    ['unknown keyword', { type: 'object', propertys: {} }],
    ['remote reference', { type: 'object', $ref: 'https://example.com/schema' }],
    ['pattern with look-ahead', { type: 'object', properties: { x: { type: 'string', pattern: '(?=x)' } } }],
  ])('a schema that is %s is an error of the definition', (_name, parameters) => {
    const definition = { name: 'a_tool', parameters: jsonObjectSchema.parse(parameters) };
    expect(() => validatorOf(definition)).toThrow(/a_tool/);
    expect(readArguments({}, definition)).toMatchObject({ ok: false });
  });

  it('from outside is also checked against the rules of JSON Schema', () => {
    const definition = (properties: JsonObject) => ({ name: 'a_tool', parameters: { type: 'object', properties } as JsonObject });
    expect(() => checkParameters(definition({ x: { type: 'string', title: 'fine' } }))).not.toThrow();
    expect(() => checkParameters(definition({ x: { type: 'string', title: 5 } }))).toThrow(/a_tool.*title/);
    expect(() => checkParameters(definition({ x: { type: 'string', minLength: -1 } }))).toThrow(/a_tool/);
  });
});
