import * as z from 'zod';
import { failure, type NodeDefinition, SUCCESS } from '../node.ts';
import { nameField } from './fields.ts';

const fields = z.strictObject({ type: z.literal('timeout'), name: nameField, ms: z.int().min(1).max(2_147_483_647) });

export const timeoutMessage = (ms: number): string => `TIMEOUT: not done within ${ms} ms of active time`;

/** Fails when its child takes longer, in active time of the run. It never interrupts a call: a child that ends in the same step counts. */
export const timeout: NodeDefinition<typeof fields> = {
  type: 'timeout',
  fields,
  label: ({ ms }) => `${ms} ms`,
  visit(place, walk) {
    const settled = walk.settled(place);
    if (settled) return settled;
    const { started = walk.activeMs } = walk.own(place);
    walk.note(place, { started });
    const mark = walk.mark();
    for (const child of place.children) {
      const verdict = walk.visit(child);
      if (verdict.status !== 'running') return verdict;
      const left = started + place.node.ms - walk.activeMs;
      if (left > 0) {
        walk.capWaits(mark, left);
        return verdict;
      }
      walk.drop(mark);
      return walk.settle(place, failure(place, timeoutMessage(place.node.ms)));
    }
    return SUCCESS;
  },
};
