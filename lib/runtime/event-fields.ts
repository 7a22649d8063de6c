import type { Json } from '../core/json.ts';
import type { RunEvent } from '../core/loop/event.ts';

/**
 * What may be logged of an event whatever its kind: names, codes, counts, times. Everything else an event holds may be
 * text of a person, a model or a tool, and stays out unless that is switched on.
 */
const SAFE = [
  'agent',
  'by',
  'callId',
  'calls',
  'checker',
  'code',
  'completionTokens',
  'costUsd',
  'decision',
  'duration',
  'effect',
  'estimated',
  'execution',
  'finish',
  'frame',
  'how',
  'iteration',
  'kind',
  'mode',
  'model',
  'outcome',
  'plan',
  'promptTokens',
  'stage',
  'status',
  'suspensionId',
  'tool',
  'totalTokens',
  'verdict',
] as const;

/** Fields of an event for a log line. Of an error only the code, since its message may repeat an argument. */
export function eventFields({ data }: RunEvent, withText: boolean): Record<string, Json> {
  if (withText) return data;
  const fields: Record<string, Json> = {};
  for (const key of SAFE) {
    const value = data[key];
    if (value !== undefined && typeof value !== 'object') fields[key] = value;
  }
  const { error } = data;
  if (typeof error === 'object' && error !== null && !Array.isArray(error) && typeof error['code'] === 'string')
    fields['code'] = error['code'];
  return fields;
}
