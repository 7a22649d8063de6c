import * as z from 'zod';

const statusSchema = z.enum(['success', 'failure']);
const decisionSchema = z.enum(['approved', 'rejected']);

/** What is kept of one node. Which fields there are depends on its type; sequences, selectors and inverters keep nothing. */
const nodeStateSchema = z.object({
  /** A leaf that is done, a timeout whose time is over, a parallel that was decided with some of its children under way. */
  status: statusSchema.optional(),
  /** Why it failed. */
  error: z.string().optional(),
  /** Path of the node where the failure began, if another. */
  failedAt: z.string().optional(),
  /** retry: the attempt under way, from 1. approval: grows with each new start, so that it asks again. */
  attempt: z.int().optional(),
  /** retry: ms since 1970 when the attempt may begin. */
  until: z.number().optional(),
  /** timeout: active time of the run, ms, when it was reached. */
  started: z.number().optional(),
  /** approval: what was decided in this attempt. */
  before: decisionSchema.optional(),
  /** approval: the policies in force when it was asked before its child. */
  asked: z.string().optional(),
  after: decisionSchema.optional(),
});
export type NodeState = z.infer<typeof nodeStateSchema>;

/**
 * All of a tree's progress, by node path: with the blackboard, what must be committed with the step (design section 8).
 * Statuses of composites follow from it. Empty at the start.
 */
export const treeStateSchema = z.record(z.string(), nodeStateSchema);
export type TreeState = z.infer<typeof treeStateSchema>;
