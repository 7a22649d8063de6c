import { Aws, Stack } from 'aws-cdk-lib';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { CfnStateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import { loopDefinition } from '../../lib/core/machine/loop.ts';
import { type FunctionSpec, stateMachineName } from '../../lib/manifest.ts';
import { type Deployment, functionArn, loopArn } from './deployment.ts';
import { allow, grant } from './grants.ts';
import { logGroupOf } from './log-group.ts';

export interface LoopProps {
  readonly deployment: Deployment;
  readonly reason: FunctionSpec;
  readonly suspend: FunctionSpec;
  readonly tools: readonly FunctionSpec[];
}

/** Log delivery is set up through an API that knows no resources (Step Functions Developer Guide, logging). */
const LOG_DELIVERY = ['CreateLogDelivery', 'GetLogDelivery', 'UpdateLogDelivery', 'DeleteLogDelivery', 'ListLogDeliveries'];
const LOG_POLICY = ['PutResourcePolicy', 'DescribeResourcePolicies', 'DescribeLogGroups'];
const TRACE = ['PutTraceSegments', 'PutTelemetryRecords', 'GetSamplingRules', 'GetSamplingTargets'];

/**
 * The state machine. Its role alone may invoke tool functions; its name is fixed, so that its ARN is known before it
 * exists; its log says which states ran and never with what data; its history is encrypted with our key.
 */
export class Loop extends Construct {
  readonly resource: CfnStateMachine;
  /** Whom tool functions let invoke them. */
  readonly role: Role;

  constructor(scope: Construct, id: string, props: LoopProps) {
    super(scope, id);
    const { deployment, reason, suspend, tools } = props;
    const stack = Stack.of(this);
    const logGroup = logGroupOf(this, 'Logs', deployment, `/aws/vendedlogs/states/${stateMachineName(deployment.settings.name)}`);
    this.role = this.makeRole(props);
    const definition = loopDefinition({
      reasonFunction: functionArn(stack, deployment, reason.name),
      suspendFunction: functionArn(stack, deployment, suspend.name),
      functionTimeouts: { reason: reason.timeoutSeconds, tool: Math.max(...tools.map((tool) => tool.timeoutSeconds)) },
      partition: Aws.PARTITION,
    });
    this.resource = new CfnStateMachine(this, 'StateMachine', {
      stateMachineName: stateMachineName(deployment.settings.name),
      stateMachineType: 'STANDARD',
      definitionString: stack.toJsonString(definition),
      roleArn: this.role.roleArn,
      loggingConfiguration: {
        level: 'ALL',
        includeExecutionData: false,
        destinations: [{ cloudWatchLogsLogGroup: { logGroupArn: logGroup.logGroupArn } }],
      },
      tracingConfiguration: { enabled: true },
      encryptionConfiguration: { type: 'CUSTOMER_MANAGED_KMS_KEY', kmsKeyId: deployment.key.keyArn, kmsDataKeyReusePeriodSeconds: 300 },
    });
    // The service checks at creation that the role may deliver logs and use the key.
    this.resource.node.addDependency(this.role);
  }

  private makeRole({ deployment, reason, suspend, tools }: LoopProps): Role {
    const stack = Stack.of(this);
    const arn = loopArn(stack, deployment);
    const ofUs = { StringEquals: { 'aws:SourceAccount': stack.account }, ArnEquals: { 'aws:SourceArn': arn } };
    const role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('states.amazonaws.com', { conditions: ofUs }) });
    const key = [deployment.key.keyArn];
    const logs = { 'kms:EncryptionContext:SourceArn': `arn:${Aws.PARTITION}:logs:${stack.region}:${stack.account}:*` };
    grant(role, [
      allow({
        sid: 'Functions',
        actions: ['lambda:InvokeFunction'],
        resources: [reason, suspend, ...tools].map((spec) => functionArn(stack, deployment, spec.name)),
      }),
      allow({ sid: 'Continue', actions: ['states:StartExecution'], resources: [arn] }),
      allow({
        sid: 'History',
        actions: ['kms:Decrypt', 'kms:GenerateDataKey'],
        resources: key,
        conditions: { StringEquals: { 'kms:EncryptionContext:aws:states:stateMachineArn': arn } },
      }),
      allow({ sid: 'LogKey', actions: ['kms:GenerateDataKey'], resources: key, conditions: { StringEquals: logs } }),
      allow(
        { sid: 'LogDelivery', actions: [...LOG_DELIVERY, ...LOG_POLICY].map((action) => `logs:${action}`), resources: ['*'] },
        'CloudWatch Logs has no resource-level permissions for log delivery, and X-Ray none for traces',
      ),
      allow({ sid: 'Traces', actions: TRACE.map((action) => `xray:${action}`), resources: ['*'] }),
    ]);
    return role;
  }
}
