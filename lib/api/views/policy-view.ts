import * as z from 'zod';
import { storedGuardSchema } from '../../core/guard/constraints.ts';
import { nextCursorSchema } from '../paging.ts';
import { schemaNames } from '../schema-names.ts';

/** Whose live policy. */
export const scopeShape = {
  scope: z
    .enum(['tenant', 'deployment'])
    .default('tenant')
    .describe("Your tenant's, or the whole deployment's, which the operator's tenant changes"),
};
const versionShape = {
  version: z.int().nonnegative().describe('0 = nobody has ever set one'),
  guard: storedGuardSchema.describe('What it adds to the deployed configuration'),
  updatedAt: z.number().optional(),
  updatedBy: z.string().optional().describe('Shown to the tenant whose policy it is'),
};

/** A live policy as it stands (design 5.4). Times are ms since 1970. */
export const policyViewSchema = z
  .object({
    ...scopeShape,
    ...versionShape,
    deployed: storedGuardSchema.describe('What the configuration says; a live policy tightens it and never loosens it'),
    warnings: z.array(z.string()).describe('Rules of it that fit no tool here: misspelt, or set before their tool'),
    nonTtyPending: z
      .boolean()
      .optional()
      .describe('What a client without a terminal does with approvals: true, it leaves them to people; false, it rejects them'),
  })
  .register(schemaNames, { id: 'Policy' });
export type PolicyView = z.infer<typeof policyViewSchema>;

export const policyVersionSchema = z.object(versionShape).register(schemaNames, { id: 'PolicyVersion' });
export const policyHistorySchema = z
  .object({ versions: z.array(policyVersionSchema), cursor: nextCursorSchema })
  .register(schemaNames, { id: 'PolicyHistory' });
