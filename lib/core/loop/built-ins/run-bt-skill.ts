import { HandrailError } from '../../errors.ts';
import { defineTool } from '../../hands/define-tool.ts';
import { isJsonObject } from '../../json.ts';
import { tightened } from '../../skills/tighten.ts';
import { inheritable } from '../../trees/inputs.ts';
import type { BuiltIn } from '../built-in.ts';
import { mayPush, namespaceOf } from '../frame-stack.ts';
import { refuse } from '../observe.ts';
import { readOwnState } from '../shared-state.ts';
import { constraintsOf, topFrame } from '../step.ts';
import { writeBoard } from '../tree-board.ts';
import { inputsOf, newTreeFrame } from '../tree-frame-start.ts';

export const RUN_BT_SKILL = 'run_bt_skill';

const definition = defineTool({
  name: RUN_BT_SKILL,
  description:
    'Runs a skill that is a fixed procedure (a behaviour tree) and gives back its result. Use it when one of the listed procedures does what is asked. Its steps may ask people for approval, so it can take long.',
  category: 'built-in',
  parameters: {
    type: 'object',
    properties: {
      skill: { type: 'string', description: 'Name of the skill.' },
      inputs: {
        type: 'object',
        description: 'Its inputs by name. Inputs that are left out come from the session or their defaults.',
        additionalProperties: true,
      },
    },
    required: ['skill'],
    additionalProperties: false,
  },
});

/** Seed 000, RunBTSkillTool: a tree as a frame on top of the agent that asks for it. */
export const runBtSkill: BuiltIn = {
  definition,
  kind: 'frame',
  async push(step, call, args) {
    const skill = step.deps.trees?.get(String(args['skill']));
    const fail = (error: HandrailError) => refuse(step, call, error);
    if (!skill)
      return fail(
        new HandrailError(
          'TOOL_NOT_FOUND',
          `there is no tree skill "${String(args['skill']).slice(0, 64)}"; there are: ${[...(step.deps.trees?.keys() ?? [])].join(', ') || 'none'}`,
        ),
      );
    if (!mayPush(step)) return fail(new HandrailError('RESOURCE_EXHAUSTED', 'frames may not be nested deeper'));
    const given = isJsonObject(args['inputs']) ? args['inputs'] : {};
    const resolved = inputsOf(skill, given, await readOwnState(step, inheritable(skill.inputs, given)));
    if (!resolved.ok) return fail(resolved.error);
    const frame = newTreeFrame(skill, {
      namespace: namespaceOf(skill.name, '', call.callId),
      callId: call.callId,
      constraints: tightened(constraintsOf(step.run, topFrame(step.run)), skill.constraints ?? {}),
    });
    try {
      for (const { key, value, untrusted } of resolved.inputs) writeBoard(step, frame, key, value, untrusted);
    } catch (error) {
      if (error instanceof HandrailError) return fail(error);
      throw error;
    }
    return frame;
  },
};
