import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readArguments } from '../../lib/core/hands/arguments.ts';
import { canonicalJson, type JsonObject, jsonObjectSchema } from '../../lib/core/json.ts';

const anything = { name: 'anything', parameters: { type: 'object', additionalProperties: true } satisfies JsonObject };
const jsonObject = fc
  .dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue({ maxDepth: 3, stringUnit: 'grapheme' }), { maxKeys: 5 })
  .map((value) => jsonObjectSchema.parse(JSON.parse(JSON.stringify(value))));

/** Refused on purpose: see the unit tests. */
const plain = (value: JsonObject): boolean =>
  !/__proto__|constructor|\\u0000/.test(JSON.stringify(value)) && JSON.stringify(value).isWellFormed();

describe('arguments', () => {
  it('are read as written when they are valid JSON, and fences or wrapping change nothing', () => {
    fc.assert(
      fc.property(jsonObject.filter(plain), (value) => {
        const text = JSON.stringify(value);
        for (const raw of [text, value, `\`\`\`json\n${text}\n\`\`\``, JSON.stringify(text)]) {
          const reading = readArguments(raw, anything);
          if (!reading.ok) {
            // Only numbers that a double cannot hold exactly may stand in the way.
            expect(reading.error.message).toContain('too large to be kept exactly');
            continue;
          }
          expect(canonicalJson(reading.arguments)).toBe(canonicalJson(value));
        }
      }),
    );
  });

  it('cut short anywhere are never completed', () => {
    fc.assert(
      fc.property(jsonObject, fc.nat(), (value, seed) => {
        const text = JSON.stringify(value);
        const cut = text.slice(0, 1 + (seed % (text.length - 1)));
        expect(readArguments(cut, anything).ok).toBe(false);
      }),
    );
  });

  it('of any kind never throw, and are refused in few words', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.json(), fc.stringMatching(/^[{}[\]:,'"“”a1\\ \n-]*$/)), (raw) => {
        const reading = readArguments(raw, anything);
        if (!reading.ok) expect(reading.error.message.length).toBeLessThan(3_000);
      }),
    );
  });
});
