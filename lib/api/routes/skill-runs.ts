import * as z from 'zod';
import { constraintsSchema } from '../../core/guard/constraints.ts';
import { sessionIdSchema } from '../../core/ids.ts';
import { defineRoute } from '../route.ts';
import { schemaNames } from '../schema-names.ts';
import { runBrief, runBriefSchema } from '../views/run-view.ts';

const skillRunBody = z
  .strictObject({
    inputs: z
      .record(z.string(), z.json())
      .default({})
      .describe("By name; what is left out comes from the session's state or the skill's defaults"),
    sessionId: sessionIdSchema.optional().describe('The conversation to go on with; a new one when absent'),
    constraints: constraintsSchema.optional().describe('May only tighten what holds anyway'),
    idempotencyKey: z.string().min(1).max(256).optional().describe('The same key and body give the same run'),
  })
  .register(schemaNames, { id: 'StartSkillRun' });

/** A tree skill as the root of a run (design section 8): nobody asks an LLM what to do. */
export const startSkillRun = defineRoute({
  method: 'post',
  path: '/skills/{name}/runs',
  id: 'startSkillRun',
  summary: 'Run a tree skill',
  access: 'run',
  params: z.strictObject({ name: z.string().min(1).max(64) }),
  body: skillRunBody,
  answer: { status: 202, description: 'It has been started', schema: runBriefSchema },
  errors: ['CONFLICT', 'SESSION_BUSY'],
  async handle({ principal, params, body }, services) {
    const { inputs, ...rest } = body;
    const tree = { skill: params.name, inputs };
    return runBrief(
      await services.startRun({
        tenant: principal.tenant,
        principal: principal.principal,
        input: `Run the skill ${params.name}`,
        tree,
        ...rest,
      }),
    );
  },
});
