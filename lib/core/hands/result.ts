import * as z from 'zod';
import { CODES, type Code, codes, HandrailError } from '../errors.ts';
import type { PartOutcome, ToolOutput } from './category.ts';
import { showJson } from './show-json.ts';
import { cleanText, cutText, escapedBytes, startOf } from './text.ts';

const MESSAGE_BYTES = 2_000;
const SUGGESTION_BYTES = 300;
const SUGGESTIONS = 5;
const PART_NAME_BYTES = 200;
const PART_ERROR_BYTES = 300;

const resultErrorSchema = z.object({
  code: z.enum(codes),
  message: z.string(),
  /** True when the same call may succeed if the LLM repeats it. */
  recoverable: z.boolean(),
  suggestions: z.array(z.string()).optional(),
});

/** What a tool call came to. Seed 004 sections 3.5 and 5.4; `data` and `partialFailure` share the call's budget. */
export const toolResultSchema = z.object({
  success: z.boolean(),
  data: z.string().optional(),
  error: resultErrorSchema.optional(),
  /** What failed of a call that did several things. */
  partialFailure: z.array(z.object({ name: z.string(), error: z.string() })).optional(),
  metadata: z.object({
    toolName: z.string(),
    /** ms the handler ran. */
    duration: z.number(),
    truncated: z.boolean(),
    /** ms since 1970 at the end. */
    timestamp: z.number(),
  }),
});
export type ToolResult = z.infer<typeof toolResultSchema>;

/** What a result is stamped with. */
export interface ResultFacts {
  readonly toolName: string;
  /** ms the handler ran. */
  readonly duration: number;
  /** ms since 1970. */
  readonly now: number;
}

/**
 * What a handler returned as the result that is fed back: text as it is, JSON with two-space indent, cleaned, and cut to
 * `budget` bytes of JSON-escaped UTF-8 on a character boundary, the note included (seed 004 section 3.4, design 6.2).
 * `wholeAt`: workspace path where all of it can be read, for the note.
 */
export function processResult(output: ToolOutput, facts: ResultFacts, budget: number, wholeAt?: string): ToolResult {
  if ('parts' in output) return processParts(output.parts, facts, budget);
  return succeeded(shownWhole(output), facts, budget, wholeAt);
}

/** An output as text, however long. */
export function shownWhole(output: Exclude<ToolOutput, { parts: unknown }>): string {
  return 'text' in output ? output.text : showJson(output.json);
}

/** A call that came to nothing. `suggestions` default to what the code table advises. */
export function failure(code: Code, message: string, facts: ResultFacts, suggestions: readonly string[] = []): ToolResult {
  const advice = suggestions.length > 0 ? suggestions.slice(0, SUGGESTIONS) : [CODES[code].advice];
  return {
    success: false,
    error: {
      code,
      message: bounded(message, MESSAGE_BYTES),
      recoverable: CODES[code].recoverable,
      suggestions: advice.map((text) => bounded(text, SUGGESTION_BYTES)),
    },
    metadata: metadataOf(facts, false),
  };
}

/** A failure from whatever was thrown: a HandrailError as it says, anything else UNHANDLED. No stack, no path of the host. */
export function failureFrom(error: unknown, facts: ResultFacts): ToolResult {
  if (!(error instanceof HandrailError)) return failure('UNHANDLED', describeThrown(error), facts);
  const code = CODES[error.code].class === 'api' ? 'UNHANDLED' : error.code;
  return failure(code, error.message, facts, error.suggestions);
}

function succeeded(text: string, facts: ResultFacts, budget: number, wholeAt?: string): ToolResult {
  const clean = cleanText(text);
  const { text: data, cut } = cutText(clean, budget, cutNote(clean, budget, wholeAt));
  return { success: true, data, metadata: metadataOf(facts, cut) };
}

function cutNote(text: string, budget: number, wholeAt: string | undefined): string {
  const rest =
    wholeAt === undefined
      ? 'ask for less or for a part'
      : `the whole is in the workspace file ${JSON.stringify(cutText(wholeAt, PART_NAME_BYTES, '...').text)}: read it in parts, or run code on it`;
  return `\n\n... (result too long: ${text.length} characters, cut to ${Math.ceil(budget / 1024)} KiB; ${rest})`;
}

function metadataOf({ toolName, duration, now }: ResultFacts, truncated: boolean): ToolResult['metadata'] {
  return { toolName, duration, truncated, timestamp: now };
}

/**
 * Several things done in one call (seed 004 section 5.4): all well; "3 of 5 succeeded" with the failures by name, first, so that
 * no cut loses them; or ALL_FAILED. At most a quarter of the budget each goes to listing failures in text and in `partialFailure`.
 */
function processParts(parts: readonly PartOutcome[], facts: ResultFacts, budget: number): ToolResult {
  const failed = parts.filter((part) => part.error !== undefined);
  const done = parts.filter((part) => part.error === undefined).map((part) => part.data ?? '');
  if (failed.length === 0) return succeeded(done.join('\n'), facts, budget);
  const partialFailure = listFailures(failed, Math.floor(budget / 4));
  const listed = partialFailure.map(({ name, error }) => `- ${name}: ${error}`).join('\n');
  if (done.length === 0) return { ...failure('ALL_FAILED', `all ${parts.length} failed:\n${listed}`, facts), partialFailure };
  const spent = escapedBytes(JSON.stringify(partialFailure));
  const head = `${done.length} of ${parts.length} succeeded. Failed (retry only these, if at all):\n${listed}`;
  return { ...succeeded(`${head}\n\nSucceeded:\n${done.join('\n')}`, facts, budget - spent), partialFailure };
}

function listFailures(failed: readonly PartOutcome[], budget: number): { name: string; error: string }[] {
  const list: { name: string; error: string }[] = [];
  let bytes = 0;
  for (const part of failed) {
    const entry = { name: bounded(part.name, PART_NAME_BYTES), error: bounded(part.error ?? '', PART_ERROR_BYTES) };
    bytes += escapedBytes(JSON.stringify(entry));
    if (bytes > budget) {
      list.push({ name: '...', error: `and ${failed.length - list.length} more` });
      break;
    }
    list.push(entry);
  }
  return list;
}

function bounded(text: string, bytes: number): string {
  return cutText(cleanText(startOf(text, 4 * bytes)), bytes, '...').text;
}

/** Nothing thrown may break this: it may be null, a proxy, an error whose getters throw. */
function describeThrown(error: unknown): string {
  try {
    if (!(error instanceof Error)) return `the tool threw ${typeof error === 'string' ? error : typeof error}`;
    // System errors spell out paths of the host.
    if ('syscall' in error) return `the tool failed: ${'code' in error ? String(error.code) : error.name} in ${String(error.syscall)}`;
    return `the tool failed: ${error.name}: ${error.message}`;
  } catch {
    return 'the tool threw something that cannot be read';
  }
}
