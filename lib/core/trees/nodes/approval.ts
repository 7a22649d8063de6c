import * as z from 'zod';
import { TREE } from '../../limits.ts';
import { renderCut } from '../blackboard.ts';
import { type ApprovalPhase, failure, type NodeDefinition, type Place, SUCCESS, type Verdict, type Walk } from '../node.ts';
import { nameField, templateField, warnMissing } from './fields.ts';

const fields = z.strictObject({
  type: z.literal('approval'),
  name: nameField,
  phase: z.enum(['before', 'after', 'both']).default('before'),
  on_reject: z.enum(['failure', 'success_skip']).default('failure'),
  /** What the person is asked; both may hold placeholders. */
  title: templateField.optional(),
  message: templateField.optional(),
});
type At = Place<z.infer<typeof fields>>;

/**
 * A person's consent before its child is carried out, after it is done, or both (seed 003, Approval). After a rejection it
 * fails, or with `success_skip` succeeds without the child; what the child has done stays done.
 */
export const approval: NodeDefinition<typeof fields> = {
  type: 'approval',
  fields,
  label: ({ phase, on_reject: onReject }) =>
    `a person decides ${phase === 'both' ? 'before and after' : phase}${onReject === 'failure' ? '' : ', may skip'}`,
  onForget: ({ attempt = 1 }) => ({ attempt: attempt + 1 }),
  visit(place, walk) {
    const { phase } = place.node;
    const own = walk.own(place);
    for (const child of place.children) {
      if (phase !== 'after') {
        if (own.before === undefined) return ask(place, walk, 'before');
        if (own.before === 'rejected') return rejected(place, 'before');
      }
      const verdict = phase === 'after' ? walk.visit(child) : walk.visitCovered(child);
      if (verdict.status === 'running' || phase === 'before') return verdict;
      if (own.after === undefined) return ask(place, walk, 'after', verdict.status);
      return own.after === 'approved' ? verdict : rejected(place, 'after');
    }
    return SUCCESS;
  },
};

function ask(place: At, walk: Walk, phase: ApprovalPhase, childStatus?: 'success' | 'failure'): Verdict {
  const { attempt = 1 } = walk.own(place);
  const fill = (template: string, limit: number): string => {
    const { value, missing } = renderCut(template, walk, limit);
    warnMissing(walk, place, missing);
    return value;
  };
  return walk.ask({
    kind: 'approval',
    place,
    handOut: () => ({
      path: place.path,
      phase,
      attempt,
      title: fill(place.node.title ?? place.node.name ?? place.path, TREE.titleCharacters),
      ...(place.node.message === undefined ? {} : { message: fill(place.node.message, TREE.messageCharacters) }),
      ...(childStatus === undefined ? {} : { childStatus }),
    }),
  });
}

function rejected(place: At, phase: ApprovalPhase): Verdict {
  return place.node.on_reject === 'success_skip' ? SUCCESS : failure(place, `APPROVAL_REJECTED: not approved ${phase} it was carried out`);
}
