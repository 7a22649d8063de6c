import { CODES, HandrailError } from '../errors.ts';
import type { PreviousResult } from '../hands/call.ts';
import type { ToolResult } from '../hands/result.ts';
import type { JsonObject } from '../json.ts';
import { fenced } from '../outside.ts';
import type { Message, PlacedMessage } from './message.ts';

/** The observation of a call that never got one. The prompt may not show a call without (design 3.3). */
export const LOST_OBSERVATION = 'outcome unknown: the run ended before a result was recorded; check before you repeat it';

type MessageOf<Role extends Message['role']> = Extract<Message, { role: Role }>;

/** One turn: what the user said, or what the assistant said with the observation of each of its calls. */
export type Turn =
  | { kind: 'user'; text: string }
  | {
      kind: 'assistant';
      runSeq: number;
      text: string;
      /** `text` is the result of a tree that was the root of its run, and holds what strangers wrote. */
      untrusted: boolean;
      calls: {
        call: MessageOf<'assistant'>['calls'][number];
        observation: MessageOf<'observation'> | undefined;
        edit: MessageOf<'edit'> | undefined;
      }[];
    };

/**
 * The transcript as turns. Every call of an assistant message stands with its one observation, wherever that was
 * written; observations and edits of calls that are not in view are dropped; a second observation is ignored.
 */
export function toTurns(messages: readonly PlacedMessage[]): Turn[] {
  const turns: Turn[] = [];
  const open = new Map<string, Extract<Turn, { kind: 'assistant' }>['calls'][number]>();
  for (const { runSeq, message } of messages) {
    switch (message.role) {
      case 'user':
        turns.push({ kind: 'user', text: message.text });
        break;
      case 'assistant': {
        // An id that stands there already would be two calls of one id in a request.
        const calls = message.calls.flatMap((call) => {
          const key = `${runSeq}#${call.callId}`;
          const entry = { call, observation: undefined, edit: undefined };
          if (open.has(key)) return [];
          open.set(key, entry);
          return [entry];
        });
        turns.push({ kind: 'assistant', runSeq, text: message.text, untrusted: message.untrusted ?? false, calls });
        break;
      }
      case 'observation': {
        const entry = open.get(`${runSeq}#${message.callId}`);
        if (entry) entry.observation ??= message;
        break;
      }
      case 'value':
        break;
      case 'edit': {
        const entry = open.get(`${runSeq}#${message.callId}`);
        if (entry) entry.edit = message;
        break;
      }
    }
  }
  return turns;
}

/** Arguments that a call runs with: what the LLM asked for, or what a person changed them to. */
export function argumentsOf(messages: readonly PlacedMessage[], runSeq: number, callId: string): JsonObject {
  let found: JsonObject | undefined;
  for (const placed of messages) {
    if (placed.runSeq !== runSeq) continue;
    const { message } = placed;
    if (message.role === 'assistant') found = message.calls.find((call) => call.callId === callId)?.arguments ?? found;
    if (message.role === 'edit' && message.callId === callId) found = message.arguments;
  }
  if (!found) throw new HandrailError('INTERNAL', `the transcript has no call ${callId}`);
  return found;
}

/** Results of the calls `callIds` that have been observed, in the order of `callIds`. */
export function resultsOf(messages: readonly PlacedMessage[], runSeq: number, callIds: readonly string[]): PreviousResult[] {
  const results = new Map<string, PreviousResult>();
  for (const placed of messages) {
    const { message } = placed;
    if (placed.runSeq === runSeq && message.role === 'observation' && !results.has(message.callId))
      results.set(message.callId, { callId: message.callId, tool: message.tool, result: message.result });
  }
  return callIds.flatMap((callId) => results.get(callId) ?? []);
}

/** What the LLM reads of a call. Of an error only its code and our own advice are not a tool's words. */
export function markedText({ tool, result, untrusted }: MessageOf<'observation'>): string {
  if (!untrusted) return observationText(result);
  const source = `tool="${tool}"`;
  if (!result.error) return fenced(result.data ?? '', source);
  const { code, suggestions = [] } = result.error;
  const { advice } = CODES[code];
  const theirs = { ...result.error, suggestions: suggestions.filter((suggestion) => suggestion !== advice) };
  const ours = suggestions.includes(advice) ? [`- ${advice}`] : [];
  return [`${code}:`, fenced(linesOf(theirs, result.data).join('\n'), source), ...ours].join('\n');
}

/** The data, or the error with its code and advice. */
export function observationText({ data, error }: ToolResult): string {
  if (!error) return data ?? '';
  return linesOf({ ...error, message: `${error.code}: ${error.message}` }, data).join('\n');
}

function linesOf({ message, suggestions = [] }: NonNullable<ToolResult['error']>, data: string | undefined): string[] {
  return [message, ...suggestions.map((suggestion) => `- ${suggestion}`), ...(data ? [data] : [])];
}
