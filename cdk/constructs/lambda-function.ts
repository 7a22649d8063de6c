import { Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import { NodejsFunction } from 'aws-cdk-lib/aws-lambda-nodejs';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { HandrailError } from '../../lib/core/errors.ts';
import { ENV, type EnvKey, type FunctionSpec, functionName } from '../../lib/manifest.ts';
import { type Deployment, environmentValue } from './deployment.ts';
import { allow, grant, rightsOf } from './grants.ts';

export interface LambdaFunctionProps {
  readonly deployment: Deployment;
  readonly spec: FunctionSpec;
  /** Values of environment keys beyond those of the spec. */
  readonly environment?: Readonly<Partial<Record<EnvKey, string>>>;
}

/**
 * The one way to make a function: the bundle of its entry, a role that may do what the manifest says and nothing else,
 * the environment the manifest names, a log group that ends.
 */
export class LambdaFunction extends Construct {
  readonly function: NodejsFunction;

  constructor(scope: Construct, id: string, props: LambdaFunctionProps) {
    super(scope, id);
    const { deployment, spec } = props;
    const bundle = deployment.bundles.get(spec.name);
    if (bundle === undefined) throw new HandrailError('INTERNAL', `${this.node.path}: there is no bundle of ${spec.name}`);
    const name = functionName(deployment.settings.name, spec.name);
    const logGroup = new LogGroup(this, 'Logs', {
      logGroupName: `/aws/lambda/${name}`,
      retention: deployment.settings.logDays,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const stack = Stack.of(this);
    const role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    // The ARN of a log group means its streams, which Lambda names.
    const logs = allow({ sid: 'Logs', actions: ['logs:CreateLogStream', 'logs:PutLogEvents'], resources: [logGroup.logGroupArn] });
    grant(role, [logs, ...rightsOf(stack, deployment, spec)]);
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
    });
  }
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
