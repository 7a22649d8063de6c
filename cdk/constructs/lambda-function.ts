import { Duration, Stack } from 'aws-cdk-lib';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import { NodejsFunction } from 'aws-cdk-lib/aws-lambda-nodejs';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { HandrailError } from '../../lib/core/errors.ts';
import { ENV, type EnvKey, type FunctionSpec, functionName, isIsolated } from '../../lib/manifest.ts';
import { acknowledge } from './acknowledge.ts';
import { type Deployment, environmentValue, functionArn, type Isolation } from './deployment.ts';
import { allow, grant, networkRights, type Right, rightsOf } from './grants.ts';
import { logGroupOf } from './log-group.ts';

export interface LambdaFunctionProps {
  readonly deployment: Deployment;
  readonly spec: FunctionSpec;
  /** Values of environment keys beyond those of the spec. */
  readonly environment?: Readonly<Partial<Record<EnvKey, string>>>;
  /** Rights beyond those of the spec. */
  readonly rights?: readonly Right[];
  /** Takes events that the function failed on, for functions that are invoked without anyone waiting. */
  readonly deadLetters?: IQueue;
}

/**
 * The one way to make a function: the bundle of its entry, a role that may do what the manifest says and nothing else,
 * the environment the manifest names, a log group that ends, traces; and, if it works with files or code, no network.
 */
export class LambdaFunction extends Construct {
  readonly function: NodejsFunction;

  constructor(scope: Construct, id: string, props: LambdaFunctionProps) {
    super(scope, id);
    const { deployment, spec } = props;
    const bundle = deployment.bundles.get(spec.name);
    if (bundle === undefined) throw new HandrailError('INTERNAL', `${this.node.path}: there is no bundle of ${spec.name}`);
    const name = functionName(deployment.settings.name, spec.name);
    const logGroup = logGroupOf(this, 'Logs', deployment, `/aws/lambda/${name}`);
    const stack = Stack.of(this);
    const role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    // The ARN of a log group means its streams, which Lambda names.
    const logs = allow({ sid: 'Logs', actions: ['logs:CreateLogStream', 'logs:PutLogEvents'], resources: [logGroup.logGroupArn] });
    const isolation = isIsolated(spec) ? deployment.isolation : undefined;
    const inNetwork = isolation === undefined ? [] : networkRights(functionArn(stack, deployment, spec.name));
    grant(role, [logs, ...rightsOf(stack, deployment, spec), ...inNetwork, ...(props.rights ?? [])]);
    acknowledge(role, { 'AwsSolutions-IAM5[Resource::*]': 'X-Ray and the network interfaces of Lambda know no resources' });
    const reserved = deployment.settings.reservedConcurrency[spec.name];
    this.function = new NodejsFunction(this, 'Function', {
      functionName: name,
      description: spec.description,
      runtime: lambda.Runtime.NODEJS_24_X,
      architecture: lambda.Architecture.ARM_64,
      code: lambda.Code.fromAsset(bundle.directory),
      handler: 'index.handler',
      memorySize: spec.memoryMb,
      timeout: Duration.seconds(spec.timeoutSeconds),
      environment: environmentOf(stack, props),
      awsSdkConnectionReuse: false,
      role,
      logGroup,
      tracing: lambda.Tracing.ACTIVE,
      ...(reserved === undefined ? {} : { reservedConcurrentExecutions: reserved }),
      ...(isolation === undefined ? {} : placement(isolation, spec)),
      ...(props.deadLetters === undefined ? {} : { deadLetterQueue: props.deadLetters }),
    });
  }
}

function placement({ vpc, subnets, securityGroup, mount }: Isolation, spec: FunctionSpec): Partial<lambda.FunctionProps> {
  const filesystem = spec.env.includes('workspace') ? { filesystem: mount } : {};
  return { vpc, vpcSubnets: subnets, securityGroups: [securityGroup], ...filesystem };
}

function environmentOf(stack: Stack, { deployment, spec, environment = {} }: LambdaFunctionProps): Record<string, string> {
  const keys = new Set<EnvKey>([...spec.env, ...(Object.keys(environment) as EnvKey[])]);
  return Object.fromEntries(
    [...keys].map((key) => {
      const value = environment[key] ?? environmentValue(stack, deployment, key);
      if (value === undefined) throw new HandrailError('INTERNAL', `${spec.name}: nothing gives ${ENV[key]}`);
      return [ENV[key], value];
    }),
  );
}
