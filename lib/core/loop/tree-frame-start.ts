import type { HandrailError } from '../errors.ts';
import { type Json, type JsonObject, jsonBytes } from '../json.ts';
import type { MessageWrite } from '../ports/run-store.ts';
import { resolveInputs } from '../trees/inputs.ts';
import type { Kept } from '../trees/node.ts';
import type { TreeSkill } from './deps.ts';
import type { Frame, TreeFrame } from './frames.ts';
import { valuePrefix, valueWrites } from './stored-value.ts';
import { standsInFrame } from './tree-board.ts';
import { noUsage } from './usage.ts';

/** A value that a tree is called with. `untrusted`: earlier runs left it in the session, whatever they had read. */
interface Input {
  readonly key: string;
  readonly value: Json;
  readonly untrusted: boolean;
}

/** What a tree is called with: given, else from the session's state, else its default. A skill that declares nothing takes anything. */
export function inputsOf(
  skill: TreeSkill,
  given: JsonObject,
  session: Readonly<Record<string, Json>>,
): { ok: true; inputs: readonly Input[] } | { ok: false; error: HandrailError } {
  const resolved = resolveInputs(skill.inputs ?? { type: 'object', additionalProperties: true }, given, session);
  if (!resolved.ok) return resolved;
  const isInherited = (key: string): boolean => !Object.hasOwn(given, key) && Object.hasOwn(session, key);
  const inputs = Object.entries(resolved.inputs).map(([key, value]) => ({ key, value, untrusted: isInherited(key) }));
  return { ok: true, inputs };
}

/** A frame that runs `skill` from its beginning; its inputs are for the caller to put on its blackboard. */
export function newTreeFrame(
  skill: TreeSkill,
  place: Pick<TreeFrame, 'namespace'> & Partial<Pick<Frame, 'callId' | 'constraints'>>,
): TreeFrame {
  return { kind: 'tree', skill: skill.name, ...place, iterations: 0, toolCalls: 0, usage: noUsage, state: {}, blackboard: {} };
}

/**
 * Puts the inputs of a run on the blackboard of its root frame, before there is a step that could write messages. `writes`: the
 * large ones, to be written before the run that names them. `attempt` makes their keys.
 */
export function startBoard(frame: TreeFrame, inputs: readonly Input[], attempt: string): MessageWrite[] {
  const place = { runSeq: 0, step: 0, attempt };
  const values: Kept[] = [];
  for (const { key, value, untrusted } of inputs) {
    const bytes = jsonBytes(value);
    const mark = untrusted ? { untrusted } : {};
    if (standsInFrame(frame, key, bytes)) frame.blackboard[key] = { value, ...mark };
    else {
      frame.blackboard[key] = { stored: bytes, at: valuePrefix(place, values.length), ...mark };
      values.push({ key, value });
    }
  }
  return valueWrites(place, values);
}
