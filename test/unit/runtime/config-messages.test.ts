import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { configSchema } from '../../../lib/core/config.ts';
import { HandrailError } from '../../../lib/core/errors.ts';
import type { Json, JsonObject } from '../../../lib/core/json.ts';
import { parseConfig } from '../../../lib/runtime/config.ts';

/** A key of the configuration, and what has to stand around it for it to be looked at. */
interface Place {
  readonly path: readonly string[];
  readonly around: JsonObject;
}

function placesOf(schema: unknown, path: readonly string[] = [], around: JsonObject = {}): Place[] {
  if (
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable
  )
    return placesOf(schema.unwrap(), path, around);
  const here = path.length === 0 ? [] : [{ path, around }];
  if (schema instanceof z.ZodObject)
    return [...here, ...Object.entries(schema.shape).flatMap(([key, inner]) => placesOf(inner, [...path, key], around))];
  if (schema instanceof z.ZodRecord) return [...here, ...placesOf(schema.valueType, [...path, 'a'], around)];
  if (schema instanceof z.ZodArray) return [...here, ...placesOf(schema.element, [...path, '0'], around)];
  if (schema instanceof z.ZodDiscriminatedUnion)
    return [
      ...here,
      ...schema.options.flatMap((option) => {
        const { discriminator } = schema.def;
        const own = option instanceof z.ZodObject ? option.shape[discriminator] : undefined;
        const [word] = own instanceof z.ZodLiteral ? [...own.values] : [];
        return placesOf(option, path, put(around, [...path, discriminator], String(word))).filter(
          (place) => place.path.length > path.length,
        );
      }),
    ];
  if (schema instanceof z.ZodUnion)
    return [
      ...here,
      ...schema.options.flatMap((option) => placesOf(option, path, around)).filter((place) => place.path.length > path.length),
    ];
  return here;
}

/** `tree` with `value` at `path`; `0` is the only item of a list. */
function put(tree: Json | undefined, path: readonly string[], value: Json): JsonObject {
  const set = (at: Json | undefined, [key, ...rest]: readonly string[]): Json => {
    if (key === undefined) return value;
    if (key === '0') return [set(undefined, rest)];
    const map = typeof at === 'object' && at !== null && !Array.isArray(at) ? at : {};
    return { ...map, [key]: set(map[key], rest) };
  };
  return set(tree, path) as JsonObject;
}

const BAD: readonly Json[] = ['no such word', 7.5, -1, true, null, ['x', {}], { nothing: [] }];

function refusals(place: Place): { field: string; message: string }[] {
  return BAD.flatMap((value) => {
    try {
      parseConfig(JSON.stringify(put(place.around, place.path, value), null, 1), 'c');
      return [];
    } catch (error) {
      if (!(error instanceof HandrailError)) throw error;
      return error.message.split('\n').map((line) => {
        const [, field = '', message = ''] = /^c:\d+: ([^:]+): (.+)$/.exec(line) ?? expect.fail(line);
        return { field, message };
      });
    }
  });
}

/** A condition is a JSON Schema, whose keys are not ours. */
const ours = ({ path }: Place) => path.at(-2) !== 'when';

const places = placesOf(configSchema)
  .filter(ours)
  .map((place) => [place.path.join('.'), place] as const);

describe('a wrong value is told of with its place and what would be right', () => {
  test('for every key there is', () => {
    expect(places.length).toBeGreaterThan(90);
    for (const key of [
      'constraints.guard.tool_policy.a.policy',
      'auth.issuer',
      'models.a.script',
      'security.network.allowedPorts.0',
      'skills.on_reject',
    ])
      expect(places.map(([path]) => path)).toContain(key);
  });

  test.each(places)('%s', (path, place) => {
    const found = refusals(place);
    expect(found.some(({ field }) => field === path || field.startsWith(`${path}.`))).toBe(true);
    for (const { message } of found) expect(message).not.toMatch(/Invalid (?:input|key|URL|string)|received|undefined|\[object/);
  });
});

test.each([
  ['maybe', 'constraints.guard.tool_policy.a: expected allow, confirm or deny, or { policy, when }, or a list of these'],
  [['deny', 'perhaps'], 'constraints.guard.tool_policy.a.1: expected allow, confirm or deny, or { policy, when }'],
  [{ policy: 'no', when: {} }, 'constraints.guard.tool_policy.a.policy: Invalid option: expected one of "allow"|"confirm"|"deny"'],
  [{ policy: 'deny' }, 'constraints.guard.tool_policy.a.when: is missing: a map is needed'],
  [['deny', { policy: 'deny', wen: {}, when: {} }], 'constraints.guard.tool_policy.a.1.wen: there is no such setting'],
])('a rule %j is told of with its place and what it may be', (rule, message) => {
  const text = JSON.stringify({ constraints: { guard: { tool_policy: { a: rule } } } });
  expect(() => parseConfig(text, 'c')).toThrow(expect.objectContaining({ message: `c:1: ${message}` }));
});
