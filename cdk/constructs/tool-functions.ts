import { Annotations } from 'aws-cdk-lib';
import { Construct } from 'constructs';
import { type FunctionSpec, WORKSPACE_MOUNT } from '../../lib/manifest.ts';
import type { Deployment } from './deployment.ts';
import { LambdaFunction } from './lambda-function.ts';

export interface ToolFunctionsProps {
  readonly deployment: Deployment;
  readonly tools: readonly FunctionSpec[];
}

/** A function for each category of tools, with a role that may do what the category needs. */
export class ToolFunctions extends Construct {
  constructor(scope: Construct, id: string, { deployment, tools }: ToolFunctionsProps) {
    super(scope, id);
    for (const spec of tools) new LambdaFunction(this, spec.name.replace(/^tool-/, ''), { deployment, spec });
    const mounting = tools.filter((spec) => spec.env.includes('workspace'));
    if (deployment.settings.target === 'aws' && mounting.length > 0) {
      Annotations.of(this).addWarningV2(
        'handrail:workspace',
        `${mounting.map((spec) => spec.name).join(' and ')} expect the workspaces at ${WORKSPACE_MOUNT}, and nothing is mounted there yet: their tools answer with an error`,
      );
    }
  }
}
