import { Duration, Stack } from 'aws-cdk-lib';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as LambdaTarget } from 'aws-cdk-lib/aws-events-targets';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { FunctionSpec } from '../../lib/manifest.ts';
import { deadLetterRights } from './dead-letters.ts';
import { type Deployment, loopArn } from './deployment.ts';
import { LambdaFunction, type LambdaFunctionProps } from './lambda-function.ts';

export interface TriggerProps {
  readonly deployment: Deployment;
  readonly spec: FunctionSpec;
  /** Takes the events that were lost on the way or that the function failed on. */
  readonly deadLetters: Queue;
  /** Beyond what the manifest says. */
  readonly environment?: LambdaFunctionProps['environment'];
  readonly rights?: LambdaFunctionProps['rights'];
}

/** Statuses of an execution that ended without `reason` having ended its run. */
const ENDED_BADLY = ['FAILED', 'TIMED_OUT', 'ABORTED'];

/** The settle function, told by Step Functions of executions that ended badly. */
export class Settle extends Construct {
  constructor(scope: Construct, id: string, props: TriggerProps) {
    super(scope, id);
    const { function: handler } = triggered(this, props);
    new Rule(this, 'Rule', {
      description: 'Executions of the loop that failed, timed out or were stopped',
      eventPattern: {
        source: ['aws.states'],
        detailType: ['Step Functions Execution Status Change'],
        detail: { status: ENDED_BADLY, stateMachineArn: [loopArn(Stack.of(this), props.deployment)] },
      },
      targets: [new LambdaTarget(handler, { deadLetterQueue: props.deadLetters })],
    });
  }
}

/** The sweep function, every minute. A sweep that was missed is not made up for: the next one sees the same. */
export class Sweep extends Construct {
  constructor(scope: Construct, id: string, props: TriggerProps) {
    super(scope, id);
    const { function: handler } = triggered(this, props);
    const once = { retryAttempts: 0, maxEventAge: Duration.minutes(1) };
    handler.configureAsyncInvoke(once);
    new Rule(this, 'Rule', {
      description: 'Sweeps what is due',
      schedule: Schedule.rate(Duration.minutes(1)),
      targets: [new LambdaTarget(handler, { ...once, deadLetterQueue: props.deadLetters })],
    });
  }
}

function triggered(scope: Construct, { deployment, spec, deadLetters, environment = {}, rights = [] }: TriggerProps): LambdaFunction {
  const all = [...rights, ...deadLetterRights(scope, deployment)];
  return new LambdaFunction(scope, 'Handler', { deployment, spec, environment, rights: all, deadLetters });
}
