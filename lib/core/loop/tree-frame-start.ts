import { type Json, type JsonObject, jsonBytes } from '../json.ts';
import type { MessageWrite } from '../ports/run-store.ts';
import { resolveInputs } from '../trees/inputs.ts';
import type { Kept } from '../trees/node.ts';
import type { TreeSkill } from './deps.ts';
import type { Frame, TreeFrame } from './frames.ts';
import { valuePrefix, valueWrites } from './stored-value.ts';
import { standsInFrame } from './tree-board.ts';
import { noUsage } from './usage.ts';

/** What a tree is called with: given, else from the session's state, else its default. A skill that declares nothing takes anything. */
export function inputsOf(skill: TreeSkill, given: JsonObject, session: Readonly<Record<string, Json>>): ReturnType<typeof resolveInputs> {
  return resolveInputs(skill.inputs ?? { type: 'object', additionalProperties: true }, given, session);
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
export function startBoard(frame: TreeFrame, inputs: JsonObject, attempt: string): MessageWrite[] {
  const place = { runSeq: 0, step: 0, attempt };
  const values: Kept[] = [];
  for (const [key, value] of Object.entries(inputs)) {
    const bytes = jsonBytes(value);
    if (standsInFrame(frame, key, bytes)) frame.blackboard[key] = { value };
    else {
      frame.blackboard[key] = { stored: bytes, at: valuePrefix(place, values.length) };
      values.push({ key, value });
    }
  }
  return valueWrites(place, values);
}
