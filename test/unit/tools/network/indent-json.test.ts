import fc from 'fast-check';
import { expect, test } from 'vitest';
import { indentJson } from '../../../../lib/tools/network/indent-json.ts';

test('writes what JSON.stringify would, wherever that keeps what is there', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 5 }), (text) => {
      expect(indentJson(text)).toBe(JSON.stringify(JSON.parse(text), null, 2));
    }),
  );
});

test('keeps digits, repeated keys and their order, and escapes', () => {
  expect(indentJson('{"b":1.50,"a":12345678901234567890,"b":"\\u00fc\\"}"}')).toBe(
    '{\n  "b": 1.50,\n  "a": 12345678901234567890,\n  "b": "\\u00fc\\"}"\n}',
  );
});

test('leaves what is nested too deeply, or too long, as it is', () => {
  const deep = '['.repeat(100_000) + ']'.repeat(100_000);
  const long = `["${'x'.repeat(2_000_000)}"]`;
  expect(indentJson(deep)).toBe(deep);
  expect(indentJson(long)).toBe(long);
});

test('reads a string of a million characters', () => {
  const text = `["${'x'.repeat(450_000)}${'\\n'.repeat(250_000)}"]`;
  expect(indentJson(text)).toBe(`[\n  ${text.slice(1, -1)}\n]`);
});
