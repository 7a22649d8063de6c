import { parse } from 'yaml';
import * as z from 'zod';
import { HandrailError } from '../../core/errors.ts';
import { type Json, jsonObjectSchema } from '../../core/json.ts';
import { unfenced } from '../../core/outside.ts';
import type { Model, ModelReply, ModelRequest, PromptMessage } from '../../core/ports/model.ts';
import type { ModelProvider } from './provider.ts';

const callsSchema = z.array(
  z.strictObject({ tool: z.string(), arguments: z.union([jsonObjectSchema, z.string()]).default({}), id: z.string().optional() }),
);

const turnSchema = z.strictObject({
  text: z.string().default(''),
  calls: callsSchema.default([]),
  /** Texts that the results of the turn before must hold; anything else is an unexpected turn. */
  expect: z.array(z.string()).default([]),
  /** The answer where `expect` does not hold; absent = the LLM fails. */
  otherwise: z.string().optional(),
  /** What is said before the next turn for as long as a result holds `when`; its calls are this turn's unless it has its own. */
  recover: z.strictObject({ when: z.string().min(1), text: z.string(), calls: callsSchema.optional() }).optional(),
  /** The LLM fails with this message. */
  error: z.string().optional(),
  finish: z.enum(['stop', 'tool_calls', 'length', 'refusal', 'other']).optional(),
  /** Tokens to report; absent = none are reported. */
  usage: z.strictObject({ prompt: z.int(), completion: z.int() }).optional(),
});

const scriptSchema = z.strictObject({
  scenarios: z
    .array(
      z.strictObject({
        name: z.string(),
        /** It plays when the user's text contains this; `*` plays for any. The first that fits plays. */
        when: z.string(),
        turns: z.array(turnSchema).min(1),
      }),
    )
    .min(1),
});
export type Script = z.input<typeof scriptSchema>;
type Turn = z.infer<typeof turnSchema>;

export interface ScriptedModel extends Model {
  /** Scenarios that were begun and have turns left that were never asked for, as `name: n of m`. */
  unconsumed(): string[];
}

/**
 * An LLM that says what a script says. It keeps no state between calls: which turn it is follows from the prompt, so it
 * plays the same on a laptop and in a Lambda. It fails on a turn that the script has not, or whose `expect` does not hold
 * and that has no `otherwise`.
 * In texts and arguments `{{0}}` is the result of the first call of the turn before, `{{0.stdout}}` a field of it.
 */
export function scriptedModel(script: Script, id = 'scripted/demo'): ScriptedModel {
  const { scenarios } = scriptSchema.parse(script);
  const played = new Map<string, number>();
  return {
    id,
    async generate(request: ModelRequest): Promise<ModelReply> {
      const { task, since } = readPrompt(request.messages);
      const scenario = scenarios.find(({ when }) => when === '*' || task.includes(when));
      if (!scenario) throw new Error(`the script has no scenario for: ${task.slice(0, 100)}`);
      const { said, results, recovering } = placeIn(scenario.turns, since);
      if (recovering) return replyOf(recovering, results, since.length);
      const turn = scenario.turns[said];
      if (!turn) throw new Error(`the scenario "${scenario.name}" has ${scenario.turns.length} turns and was asked for turn ${said + 1}`);
      const missing = turn.expect.find((text) => !results.some((result) => result.includes(text)));
      if (missing !== undefined && turn.otherwise !== undefined) return replyOf({ text: turn.otherwise, calls: [] }, results, said);
      if (missing !== undefined)
        throw new Error(`turn ${said + 1} of "${scenario.name}" expects "${missing}" in: ${results.join(' | ').slice(0, 500)}`);
      played.set(scenario.name, Math.max(played.get(scenario.name) ?? 0, said + 1));
      if (turn.error !== undefined) throw new Error(turn.error);
      return request.toolChoice === 'none' ? replyOf({ ...turn, calls: [] }, results, said) : replyOf(turn, results, said);
    },
    unconsumed() {
      return scenarios.flatMap(({ name, turns }) => {
        const done = played.get(name);
        return done === undefined || done === turns.length ? [] : [`${name}: ${done} of ${turns.length}`];
      });
    },
  };
}

export const scripted: ModelProvider<'scripted'> = async (config, context) => {
  return scriptedModel(readScript(await context.readText(config.script), config.script), `scripted/${config.model}`);
};

/**
 * The script in a text (YAML or JSON). Aliases are allowed, but not so many that a small file grows into a large one. Errors:
 * BAD_REQUEST with the name of the file and what is wrong in it.
 */
export function readScript(text: string, file: string): Script {
  const parsed = scriptSchema.safeParse(parsedYaml(text, file));
  if (parsed.success) return parsed.data;
  throw new HandrailError('BAD_REQUEST', `${file}: ${z.prettifyError(parsed.error)}`);
}

function parsedYaml(text: string, file: string): unknown {
  try {
    return parse(text, { schema: 'core' });
  } catch (error) {
    throw new HandrailError('BAD_REQUEST', `${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** What the user said, and what was said since. */
function readPrompt(messages: readonly PromptMessage[]): { task: string; since: readonly PromptMessage[] } {
  const last = messages.findLastIndex((message) => message.role === 'user');
  const task = messages[last];
  return { task: task?.role === 'user' ? task.text : '', since: messages.slice(last + 1) };
}

type Spoken = Pick<Turn, 'text' | 'calls'> & Partial<Turn>;

/** Which turn is next and the newest results; `recovering`: what has to be said first. */
function placeIn(turns: readonly Turn[], since: readonly PromptMessage[]) {
  let said = 0;
  let results: string[] = [];
  const recovering = (): Spoken | undefined => {
    const { recover, calls } = turns[said - 1] ?? {};
    return recover && results.some((result) => result.includes(recover.when))
      ? { text: recover.text, calls: recover.calls ?? calls ?? [] }
      : undefined;
  };
  for (const message of since) {
    if (message.role === 'assistant' && !recovering()) said++;
    if (message.role === 'tool') results = message.results.map((result) => result.text);
  }
  return { said, results, recovering: recovering() };
}

function replyOf(turn: Spoken, results: readonly string[], said: number): ModelReply {
  const calls = turn.calls.map((call, index) => ({
    id: call.id ?? `t${said}_${index}`,
    name: call.tool,
    arguments: typeof call.arguments === 'string' ? call.arguments : JSON.stringify(filled(call.arguments, results)),
  }));
  return {
    text: String(filled(turn.text, results)),
    calls,
    usage: { promptTokens: turn.usage?.prompt, completionTokens: turn.usage?.completion, totalTokens: undefined },
    finish: turn.finish ?? (calls.length > 0 ? 'tool_calls' : 'stop'),
  };
}

/** `value` with every `{{…}}` in its texts replaced. */
function filled(value: Json, results: readonly string[]): Json {
  if (typeof value === 'string')
    return value.replace(/\{\{(\d+)(?:\.([A-Za-z_]\w*))?\}\}/g, (_all, index: string, field?: string) =>
      fieldOf(results[Number(index)] ?? '', field),
    );
  if (Array.isArray(value)) return value.map((item) => filled(item, results));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, filled(item, results)]));
  return value;
}

function fieldOf(result: string, field: string | undefined): string {
  if (field === undefined) return unfenced(result);
  const inner = result.slice(result.indexOf('{'), result.lastIndexOf('}') + 1);
  const parsed = jsonObjectSchema.safeParse(tryJson(inner));
  const value = parsed.success ? parsed.data[field] : undefined;
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
