import * as z from 'zod';
import { guardConstraintsSchema } from './constraints.ts';

/** Policy that an operator changes while runs run (design 5.4): it only tightens. `version` is the ETag. */
export const livePolicySchema = z.object({
  v: z.literal(1),
  version: z.int(),
  guard: guardConstraintsSchema.pick({ tool_policy: true, default_policy: true, flow: true }),
  updatedAt: z.number(),
  updatedBy: z.string(),
});
export type LivePolicy = z.infer<typeof livePolicySchema>;

/** Key of the deployment-wide policy; `*` is no tenant's name. */
export const DEPLOYMENT = '*';
