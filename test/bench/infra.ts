import * as z from 'zod';
import { ofType, synthesize } from '../support/stacks.ts';

export interface InfraFigures {
  /** Resources of both stacks. */
  readonly resources: number;
  /** Statements of roles that allow something on a resource with `*` or `?` in it. */
  readonly wildcardStatements: number;
  /** Both templates as they are uploaded. CloudFormation takes 1 MB each. */
  readonly templateBytes: number;
}

const policySchema = z.object({
  PolicyDocument: z.object({ Statement: z.array(z.object({ Effect: z.string(), Resource: z.unknown() })) }),
});

/** What a deployment to AWS with all defaults is made of. */
export async function measureInfra(): Promise<InfraFigures> {
  const { app, agent, state } = synthesize({ target: 'aws' });
  const { stacks } = app.synth();
  const templates = [agent, state];
  const statements = templates.flatMap((template) =>
    ofType(template, 'AWS::IAM::Policy').flatMap(([, { Properties }]) => policySchema.parse(Properties).PolicyDocument.Statement),
  );
  return {
    resources: templates.reduce((sum, { Resources }) => sum + Object.keys(Resources).length, 0),
    wildcardStatements: statements.filter(({ Effect, Resource }) => Effect === 'Allow' && /[*?]/.test(JSON.stringify(Resource))).length,
    templateBytes: stacks.reduce((sum, { template }) => sum + Buffer.byteLength(JSON.stringify(template)), 0),
  };
}
