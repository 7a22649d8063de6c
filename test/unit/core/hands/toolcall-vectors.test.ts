import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type ArgumentsReading, readArguments } from '../../../../lib/core/hands/arguments.ts';
import { defineTool } from '../../../../lib/core/hands/define-tool.ts';
import { createRegistry } from '../../../../lib/core/hands/registry.ts';
import { type JsonObject, jsonObjectSchema } from '../../../../lib/core/json.ts';
import type { RawCall } from '../../../../lib/core/ports/model.ts';

const fixture = (name: string): string => readFileSync(new URL(`../../../fixtures/vectors/${name}`, import.meta.url), 'utf8');
// biome-ignore lint/suspicious/noExplicitAny: rows hold what models send, in many shapes
type Loose = any;

const registry = createRegistry([]);
for (const [name, parameters] of Object.entries(JSON.parse(fixture('toolset.json'))))
  registry.register(defineTool({ name, description: name, category: 'built-in', parameters: jsonObjectSchema.parse(parameters) }));

const rows: Loose[] = fixture('toolcalls.jsonl')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => JSON.parse(line));

/** The shapes of providers, as an adapter would hand them on; nothing for what is not a call. */
function rawCalls(call: Loose): RawCall[] {
  switch (call.shape) {
    case 'openai':
      return [{ id: call.id, name: call.function?.name, arguments: call.function?.arguments }];
    case 'openai_legacy':
      return [{ id: undefined, name: call.function_call.name, arguments: call.function_call.arguments }];
    case 'anthropic':
      return [{ id: call.id, name: call.name, arguments: call.input }];
    case 'bedrock':
      return [{ id: call.toolUse.toolUseId, name: call.toolUse.name, arguments: call.toolUse.input }];
    case 'stream': {
      const joined: { id: string | undefined; name: string; arguments: string }[] = [];
      for (const delta of call.deltas) {
        joined[delta.index] ??= { id: undefined, name: '', arguments: '' };
        const part = joined[delta.index];
        if (!part) continue;
        part.id ??= delta.id;
        part.name += delta.name ?? '';
        part.arguments += delta.arguments ?? '';
      }
      return joined;
    }
    default:
      return [];
  }
}

type Outcome = { code: string; message: string } | { arguments: JsonObject };

function decide(raw: RawCall): Outcome {
  const definition = registry.resolve(raw.name);
  if (!definition) return registry.notFound(raw.name);
  const reading: ArgumentsReading = readArguments(raw.arguments, definition);
  return reading.ok ? { arguments: reading.arguments } : reading.error;
}

const wordOf = (outcome: Outcome): string => ('code' in outcome ? `reject:${outcome.code}` : 'accept');

function checkFirm(expected: Loose, outcomes: readonly Outcome[]): void {
  const words = outcomes.map(wordOf);
  switch (expected.action) {
    case 'accept':
    case 'repair':
      expect(words).toEqual(words.map(() => 'accept'));
      break;
    case 'reject':
      expect(words).toEqual(words.map(() => `reject:${expected.code}`));
      break;
    case 'mixed':
      expected.per_call.forEach((word: string, index: number) => {
        if (word !== 'accept_or_skip') expect(words[index]).toBe(word);
      });
      break;
    default:
      throw new Error(`unknown action ${expected.action}`);
  }
}

describe('what models really send', () => {
  it.each(rows.filter((row) => row.firm).map((row) => [row.id, row.why, row]))('%s: %s', (_id, _why, row) => {
    const outcomes = row.calls.flatMap(rawCalls).map(decide);
    checkFirm(row.expect, outcomes);
    if (row.expect.arguments) expect(outcomes[0]).toMatchObject({ arguments: row.expect.arguments });
    if (row.expect.results) expect(outcomes).toHaveLength(row.expect.results);
  });

  it.each(rows.filter((row) => !row.firm).map((row) => [row.id, row.why, row]))('%s is safe: %s', (_id, _why, row) => {
    const outcomes: Outcome[] = row.calls.flatMap(rawCalls).map(decide);
    for (const outcome of outcomes) {
      if ('code' in outcome) {
        expect(['INVALID_ARGUMENTS', 'TOOL_NOT_FOUND']).toContain(outcome.code);
        expect(outcome.message.length).toBeLessThan(3_000);
      } else if (row.expect.arguments) expect(outcome.arguments).toMatchObject(row.expect.arguments);
    }
    if (row.expect.action === 'ignore') expect(outcomes).toEqual([]);
    expect(Reflect.get({}, 'isAdmin')).toBeUndefined();
  });
});
