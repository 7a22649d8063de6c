import type { HandrailError } from '../errors.ts';
import type { Json, JsonObject } from '../json.ts';
import { resolveInputs } from '../trees/inputs.ts';
import type { TreeSkill } from './deps.ts';
import type { Frame, TreeFrame } from './frames.ts';
import { noUsage } from './usage.ts';

/** A frame that runs `skill` from its beginning, or what is wrong with the inputs. */
export function newTreeFrame<Failure>(
  skill: TreeSkill,
  given: JsonObject,
  session: Readonly<Record<string, Json>>,
  place: Pick<TreeFrame, 'namespace'> & Partial<Pick<Frame, 'callId' | 'constraints'>>,
  fail: (error: HandrailError) => Failure,
): TreeFrame | Failure {
  const resolved = resolveInputs(skill.inputs ?? { type: 'object', additionalProperties: true }, given, session);
  if (!resolved.ok) return fail(resolved.error);
  return {
    kind: 'tree',
    skill: skill.name,
    ...place,
    iterations: 0,
    toolCalls: 0,
    usage: noUsage,
    state: {},
    blackboard: Object.fromEntries(Object.entries(resolved.inputs).map(([key, value]) => [key, { value }])),
  };
}
