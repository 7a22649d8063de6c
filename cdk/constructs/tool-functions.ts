import { ArnPrincipal, type IRole } from 'aws-cdk-lib/aws-iam';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import type { FunctionSpec } from '../../lib/manifest.ts';
import type { Deployment } from './deployment.ts';
import { LambdaFunction } from './lambda-function.ts';

export interface ToolFunctionsProps {
  readonly deployment: Deployment;
  readonly tools: readonly FunctionSpec[];
}

/** A function for each category of tools, with a role that may do what the category needs. */
export class ToolFunctions extends Construct {
  private readonly functions: readonly IFunction[];

  constructor(scope: Construct, id: string, { deployment, tools }: ToolFunctionsProps) {
    super(scope, id);
    this.functions = tools.map((spec) => new LambdaFunction(this, spec.name.replace(/^tool-/, ''), { deployment, spec }).function);
  }
  /** Says in each function's own policy who invokes it. */
  allowInvocationBy(role: IRole): void {
    for (const handler of this.functions) {
      handler.addPermission('Loop', { principal: new ArnPrincipal(role.roleArn), action: 'lambda:InvokeFunction' });
    }
  }
}
