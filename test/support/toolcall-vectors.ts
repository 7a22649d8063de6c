import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { readArguments } from '../../lib/core/hands/arguments.ts';
import { defineTool } from '../../lib/core/hands/define-tool.ts';
import { createRegistry } from '../../lib/core/hands/registry.ts';
import { isJsonObject, type Json, type JsonObject, jsonObjectSchema } from '../../lib/core/json.ts';
import type { RawCall } from '../../lib/core/ports/model.ts';

const fixture = (name: string): string => readFileSync(new URL(`../fixtures/vectors/${name}`, import.meta.url), 'utf8');
// biome-ignore lint/suspicious/noExplicitAny: rows hold what models send, in many shapes
type Loose = any;

export interface ToolCallRow {
  readonly id: string;
  readonly why: string;
  readonly firm: boolean;
  readonly calls: readonly Loose[];
  readonly expect: Loose;
}

export const toolCallRows: readonly ToolCallRow[] = fixture('toolcalls.jsonl')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => JSON.parse(line));

const registry = createRegistry([]);
for (const [name, parameters] of Object.entries(JSON.parse(fixture('toolset.json'))))
  registry.register(defineTool({ name, description: name, category: 'built-in', parameters: jsonObjectSchema.parse(parameters) }));

/**
 * What is wrong with how the calls of a row are read; an empty list = nothing. A firm row must come out as it says; any other
 * must be refused clearly, or understood as it says, and leave nothing behind.
 */
export function toolCallFaults(row: ToolCallRow): string[] {
  const outcomes = row.calls.flatMap(rawCalls).map(decide);
  const faults = row.firm ? firmFaults(row.expect, outcomes) : softFaults(row.expect, outcomes);
  return [...faults, ...('isAdmin' in {} ? ['Object.prototype was changed'] : [])];
}

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
  const reading = readArguments(raw.arguments, definition);
  return reading.ok ? { arguments: reading.arguments } : reading.error;
}

const wordOf = (outcome: Outcome): string => ('code' in outcome ? `reject:${outcome.code}` : 'accept');

function firmFaults(expected: Loose, outcomes: readonly Outcome[]): string[] {
  const words = outcomes.map(wordOf);
  const wanted = wantedWords(expected, words);
  const [first] = outcomes;
  const argumentsHold = !expected.arguments || (first && 'arguments' in first && holds(first.arguments, expected.arguments));
  return [
    ...(words.every((word, index) => wanted[index] === undefined || wanted[index] === word) ? [] : [`${words}, not ${wanted}`]),
    ...(argumentsHold ? [] : [`the arguments are ${JSON.stringify(first)}`]),
    ...(expected.results && outcomes.length !== expected.results ? [`${outcomes.length} results, not ${expected.results}`] : []),
  ];
}

/** What each call must come to; undefined = either. */
function wantedWords(expected: Loose, words: readonly string[]): (string | undefined)[] {
  switch (expected.action) {
    case 'accept':
    case 'repair':
      return words.map(() => 'accept');
    case 'reject':
      return words.map(() => `reject:${expected.code}`);
    case 'mixed':
      return expected.per_call.map((word: string) => (word === 'accept_or_skip' ? undefined : word));
    default:
      throw new Error(`unknown action ${expected.action}`);
  }
}

function softFaults(expected: Loose, outcomes: readonly Outcome[]): string[] {
  const faults = outcomes.flatMap((outcome) => {
    if (!('code' in outcome))
      return !expected.arguments || holds(outcome.arguments, expected.arguments) ? [] : [`understood as ${JSON.stringify(outcome)}`];
    return [
      ...(['INVALID_ARGUMENTS', 'TOOL_NOT_FOUND'].includes(outcome.code) ? [] : [`refused as ${outcome.code}`]),
      ...(outcome.message.length < 3_000 ? [] : ['the refusal is too long']),
    ];
  });
  return expected.action === 'ignore' && outcomes.length > 0 ? [...faults, 'it is not a call'] : faults;
}

/** Has all of `wanted`, and may have more: defaults are filled in. */
function holds(value: Json | undefined, wanted: Json): boolean {
  if (!isJsonObject(value) || !isJsonObject(wanted)) return isDeepStrictEqual(value, wanted);
  return Object.entries(wanted).every(([key, part]) => Object.hasOwn(value, key) && holds(value[key], part ?? null));
}
