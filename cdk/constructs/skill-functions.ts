import { ArnPrincipal, type IRole } from 'aws-cdk-lib/aws-iam';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import type { FunctionSpec } from '../../lib/manifest.ts';
import type { Deployment } from './deployment.ts';
import { LambdaFunction } from './lambda-function.ts';

export interface SkillFunctionsProps {
  readonly deployment: Deployment;
  readonly skills: readonly FunctionSpec[];
}

/**
 * A function for each handler skill (design section 7): its own role with no right but to its log, its own timeout, files
 * mounted and a way out only as its permissions ask for them.
 */
export class SkillFunctions extends Construct {
  private readonly functions: readonly IFunction[];

  constructor(scope: Construct, id: string, { deployment, skills }: SkillFunctionsProps) {
    super(scope, id);
    this.functions = skills.map((spec) => new LambdaFunction(this, spec.name.replace(/^skill-/, ''), { deployment, spec }).function);
  }

  /** Says in each function's own policy who invokes it. */
  allowInvocationBy(role: IRole): void {
    for (const handler of this.functions)
      handler.addPermission('Loop', { principal: new ArnPrincipal(role.roleArn), action: 'lambda:InvokeFunction' });
  }
}
