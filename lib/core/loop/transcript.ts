import { HandrailError } from '../errors.ts';
import type { PreviousResult } from '../hands/call.ts';
import type { ToolResult } from '../hands/result.ts';
import type { JsonObject } from '../json.ts';
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
        turns.push({ kind: 'assistant', runSeq, text: message.text, calls });
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

/** What the LLM reads of a result: the data, or the error with its code and advice. */
export function observationText(result: ToolResult): string {
  if (!result.error) return result.data ?? '';
  const lines = [
    `${result.error.code}: ${result.error.message}`,
    ...(result.error.suggestions ?? []).map((suggestion) => `- ${suggestion}`),
  ];
  if (result.data) lines.push(result.data);
  return lines.join('\n');
}
