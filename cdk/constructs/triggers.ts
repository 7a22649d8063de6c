import { Duration, Stack } from 'aws-cdk-lib';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as LambdaTarget } from 'aws-cdk-lib/aws-events-targets';
import { Construct } from 'constructs';
import type { FunctionSpec } from '../../lib/manifest.ts';
import { type Deployment, loopArn } from './deployment.ts';
import { LambdaFunction } from './lambda-function.ts';

export interface TriggerProps {
  readonly deployment: Deployment;
  readonly spec: FunctionSpec;
}

/** Statuses of an execution that ended without `reason` having ended its run. */
const ENDED_BADLY = ['FAILED', 'TIMED_OUT', 'ABORTED'];

/** The settle function, told by Step Functions of executions that ended badly. */
export class Settle extends Construct {
  constructor(scope: Construct, id: string, { deployment, spec }: TriggerProps) {
    super(scope, id);
    const { function: handler } = new LambdaFunction(this, 'Handler', { deployment, spec });
    new Rule(this, 'Rule', {
      description: 'Executions of the loop that failed, timed out or were stopped',
      eventPattern: {
        source: ['aws.states'],
        detailType: ['Step Functions Execution Status Change'],
        detail: { status: ENDED_BADLY, stateMachineArn: [loopArn(Stack.of(this), deployment)] },
      },
      targets: [new LambdaTarget(handler)],
    });
  }
}

/** The sweep function, every minute. A sweep that was missed is not made up for: the next one sees the same. */
export class Sweep extends Construct {
  constructor(scope: Construct, id: string, { deployment, spec }: TriggerProps) {
    super(scope, id);
    const { function: handler } = new LambdaFunction(this, 'Handler', { deployment, spec });
    new Rule(this, 'Rule', {
      description: 'Sweeps what is due',
      schedule: Schedule.rate(Duration.minutes(1)),
      targets: [new LambdaTarget(handler, { retryAttempts: 0, maxEventAge: Duration.minutes(1) })],
    });
  }
}
