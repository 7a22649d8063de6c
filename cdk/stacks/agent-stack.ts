import { CfnOutput, Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { HandrailError } from '../../lib/core/errors.ts';
import type { FunctionSpec } from '../../lib/manifest.ts';
import type { Bundles } from '../bundle.ts';
import type { Settings } from '../config.ts';
import { Api } from '../constructs/api.ts';
import type { Deployment } from '../constructs/deployment.ts';
import { LambdaFunction } from '../constructs/lambda-function.ts';
import { Loop } from '../constructs/loop.ts';
import { ToolFunctions } from '../constructs/tool-functions.ts';
import { Settle, Sweep } from '../constructs/triggers.ts';
import type { StateStack } from './state-stack.ts';

export interface AgentStackProps extends StackProps {
  readonly settings: Settings;
  readonly state: StateStack;
  readonly functions: readonly FunctionSpec[];
  readonly bundles: Bundles;
}

/** Everything that computes: may be deleted and deployed again without losing a run's data. */
export class AgentStack extends Stack {
  constructor(scope: Construct, id: string, props: AgentStackProps) {
    super(scope, id, { ...props, description: 'Handrail: the loop, its functions and the API' });
    const { settings, state, functions, bundles } = props;
    const deployment: Deployment = { settings, bundles, tables: state.tables, key: state.key };
    const spec = (name: string): FunctionSpec => {
      const found = functions.find((candidate) => candidate.name === name);
      if (found === undefined) throw new HandrailError('INTERNAL', `there is no function ${name}`);
      return found;
    };
    const tools = functions.filter(({ name }) => name.startsWith('tool-'));
    new ToolFunctions(this, 'Tools', { deployment, tools });
    new LambdaFunction(this, 'Reason', { deployment, spec: spec('reason') });
    new LambdaFunction(this, 'Suspend', { deployment, spec: spec('suspend') });
    const loop = new Loop(this, 'Loop', { deployment, reason: spec('reason'), suspend: spec('suspend'), tools });
    new Settle(this, 'Settle', { deployment, spec: spec('settle') });
    new Sweep(this, 'Sweep', { deployment, spec: spec('sweep') });
    const api = new Api(this, 'Api', { deployment, spec: spec('api') });
    new CfnOutput(this, 'ApiUrl', { value: api.url });
    new CfnOutput(this, 'ApiId', { value: api.id });
    new CfnOutput(this, 'StateMachineArn', { value: loop.resource.ref });
  }
}
