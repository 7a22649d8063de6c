import { ArnFormat, Aws, type Stack } from 'aws-cdk-lib';
import type { ISecurityGroup, IVpc, SubnetSelection } from 'aws-cdk-lib/aws-ec2';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { FileSystem } from 'aws-cdk-lib/aws-lambda';
import type { TableId } from '../../lib/adapters/stores/dynamodb/tables.ts';
import { type EnvKey, functionName, NO_WORKSPACE, stateMachineName } from '../../lib/manifest.ts';
import type { Bundles } from '../bundle.ts';
import type { Settings } from '../config.ts';
import type { Tables } from './tables.ts';

/** What the constructs of an agent stack share. */
export interface Deployment {
  readonly settings: Settings;
  readonly bundles: Bundles;
  readonly tables: Tables;
  readonly key: IKey;
  /** Where functions run that must reach nothing; undefined on an emulator and with `-c network=none`. */
  readonly isolation: Isolation | undefined;
}

/** A network without a way out, and the files of all sessions in it. */
export interface Isolation {
  readonly vpc: IVpc;
  readonly subnets: SubnetSelection;
  readonly securityGroup: ISecurityGroup;
  readonly mount: FileSystem;
}

/**
 * ARNs are built from fixed names, so that the state machine may name its functions and they may name it without a
 * cycle between resources.
 */
export function functionArn(stack: Stack, deployment: Deployment, name: string): string {
  const resourceName = functionName(deployment.settings.name, name);
  return stack.formatArn({ service: 'lambda', resource: 'function', resourceName, arnFormat: ArnFormat.COLON_RESOURCE_NAME });
}

export function loopArn(stack: Stack, deployment: Deployment): string {
  const resourceName = stateMachineName(deployment.settings.name);
  return stack.formatArn({ service: 'states', resource: 'stateMachine', resourceName, arnFormat: ArnFormat.COLON_RESOURCE_NAME });
}

/** Every execution of the loop. */
export function executionsArn(stack: Stack, deployment: Deployment): string {
  return `arn:${Aws.PARTITION}:states:${stack.region}:${stack.account}:execution:${stateMachineName(deployment.settings.name)}:*`;
}

/** Value of one key of a function's environment; undefined for those only a construct knows. */
export function environmentValue(stack: Stack, deployment: Deployment, key: EnvKey): string | undefined {
  const table = (which: TableId) => deployment.tables[which].tableName;
  const values: Record<EnvKey, string | undefined> = {
    target: deployment.settings.target,
    sessionsTable: table('sessions'),
    guardTable: table('guard'),
    memoryTable: table('memory'),
    stateMachineArn: loopArn(stack, deployment),
    functionPrefix: deployment.settings.name,
    workspace: deployment.settings.workspace,
    fileFunction: deployment.bundles.has('tool-file') ? functionName(deployment.settings.name, 'tool-file') : NO_WORKSPACE,
    logLevel: deployment.settings.logLevel,
    logText: deployment.settings.logText ? 'on' : 'off',
    apiUrl: undefined,
    approvalsTopic: undefined,
    apiSecret: undefined,
  };
  return values[key];
}
